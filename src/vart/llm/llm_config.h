// llm_config(): the sizes and special tokens of a language model, for its runner.
#pragma once

#include <string>

#include "vart/files/options.h"
#include "vart/vart_llm_runner_factory.hpp"

namespace millrace::vartml {

// Returns the sizes of a model, whose tensors are those of the runner of its decode graph with
// `prefix` before the names, and the tokens of generation_config.json beside the archive at
// `model_path`. Throws std::runtime_error if the model has no such inputs and logits, or the file
// is there and not valid.
::vart::LLMConfigInfo llm_config(const ::vart::Runner& decode, const std::string& prefix,
                                 const LlmNames& names, const std::string& model_path);

}  // namespace millrace::vartml
