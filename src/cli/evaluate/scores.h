// The scores of a classifier: which output has them, and how classes rank by them. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

// Whether the tensor can hold a score for each of several classes: all its dimensions but one
// are 1.
bool may_hold_scores(const tensor::TensorDesc& cpu);

// The output with the scores: the one of this name or, without a name, the only one that may hold
// them. kInvalidArgument lists the outputs where that does not say which.
Result<size_t> score_output(const graph::CompiledModel& model, const std::string& name);

// The order of classes: higher scores first, NaN last, then by number.
bool ranks_before(std::span<const float> scores, size_t a, size_t b);

// Requirement: there is a score.
size_t best_class(std::span<const float> scores);

// How many classes rank before this one. Requirement: label < scores.size().
size_t rank_of(std::span<const float> scores, size_t label);

}  // namespace millrace::cli
