// The scores of a classifier: which output has them, and the rank of a class. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/measure/scores.h"

namespace millrace::cli {

// The output with the scores: the one of this name or, without a name, the only one that may hold
// them. kInvalidArgument lists the outputs where that does not say which.
Result<size_t> score_output(const graph::CompiledModel& model, const std::string& name);

// How many classes rank before this one. Requirement: label < scores.size().
size_t rank_of(std::span<const float> scores, size_t label);

}  // namespace millrace::cli
