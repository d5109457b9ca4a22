// Runners of language models: the prefill and the decode graph of one archive, with their tensors
// in one list.
//
// Source: the published sample program of the release after 6.2, which is all that is public of
// this part of the API; docs/vart.md says what follows from it and what is assumed. C++17 and
// later.
#ifndef VART_VART_LLM_RUNNER_FACTORY_HPP
#define VART_VART_LLM_RUNNER_FACTORY_HPP

#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "vart/vart_runner_factory.hpp"

#pragma GCC visibility push(default)

namespace vart {

// The graph that the following calls run: that which reads the tokens of a prompt, or that which
// reads one token.
enum class LlmPhase { PREFILL = 0, DECODE = 1 };

struct LLMConfigInfo {
  int64_t vocab_size = 0;              // logits of each token
  int64_t max_sequence_length = 0;     // positions of a sequence, at most
  int64_t compiled_past_seq_len = 0;   // positions of the past keys that the decode graph takes
  std::vector<int64_t> eos_token_ids;  // empty if they are not known
  int64_t pad_token_id = 0;
};

// A Runner whose lists of tensors hold those of the prefill graph, with `prefill_` before each
// name, and then those of the decode graph, with `decode_`. execute and execute_async take the
// tensors of the graph of the present phase only. Thread-safe like a Runner; a call that starts a
// job uses the phase at that time.
class LlmRunner : public Runner {
 public:
  virtual LLMConfigInfo get_llm_config() const = 0;
  // Throws std::invalid_argument for a phase that is none of the enumerators.
  virtual void set_llm_phase(LlmPhase phase) = 0;

 protected:
  using Runner::Runner;
};

class LlmRunnerFactory {
 public:
  // Loads an archive that was compiled with the shape profiles "prefill" and "decode". The options
  // are those of RunnerFactory::create_runner without shape_profile, and
  //
  //   input_ids_name "input_ids"            the input with the tokens
  //   attention_mask_name "attention_mask"  the input whose last dimension is the longest sequence;
  //                                         without such an input it is that of the past keys
  //   logits_name "logits"                  the output whose last dimension is the vocabulary
  //
  // The tokens of the end and of the padding are those of the file generation_config.json beside
  // the archive, or within it if it is a directory. The first phase is PREFILL. Throws as
  // RunnerFactory::create_runner does, std::invalid_argument for the option shape_profile, and
  // std::runtime_error if the archive lacks a profile or one of the tensors, or the file is not
  // valid.
  static std::shared_ptr<LlmRunner> create_runner(
      RunnerType type, const std::string& model_path,
      const std::unordered_map<std::string, std::any>& options = {});
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_LLM_RUNNER_FACTORY_HPP
