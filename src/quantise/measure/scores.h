// Scores of a classifier: finds the tensors that may hold them, and ranks classes by them.
// Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "graph/compiled_model.h"

namespace millrace::quantise {

// Whether the tensor can hold a score for each of several classes: all its dimensions but one
// are 1.
bool may_hold_scores(const tensor::TensorDesc& cpu);

// Whether the model has one output, which may hold scores.
bool is_classifier(const graph::CompiledModel& model);

// Whether class `a` ranks before class `b`: higher scores first, NaN last, equal ones by index.
bool ranks_before(std::span<const float> scores, size_t a, size_t b);

// Returns the class that ranks first (top-1). Requirement: there is a score.
size_t best_class(std::span<const float> scores);

}  // namespace millrace::quantise
