// Finds the output of a classifier that has its scores, and ranks classes. Thread-safe.
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

// Returns the index of the output with this name or, if `name` is empty, of the only output that
// may hold scores. kInvalidArgument, with the names of the outputs, if there is none or there are
// several.
Result<size_t> score_output(const graph::CompiledModel& model, const std::string& name);

// Returns how many classes rank before `label`. Requirement: label < scores.size().
size_t rank_of(std::span<const float> scores, size_t label);

}  // namespace millrace::cli
