// Describes a model as JSON: inputs and outputs with their views, operators, partitions, precisions
// and the memory plan. One thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "cli/model_source.h"

namespace millrace::cli {

// Returns what describe_model() does, of a model that is open already.
Result<nlohmann::ordered_json> describe_opened(const graph::CompiledModel& model,
                                               const std::string& path);

// Returns what `millrace inspect --json` prints about the model at `path`, which is opened like
// open_model(), with numbers as round_numbers() leaves them. Names are as the file has them, and
// need not be UTF-8.
Result<nlohmann::ordered_json> describe_model(const std::string& path, const CompileFlags& flags);

}  // namespace millrace::cli
