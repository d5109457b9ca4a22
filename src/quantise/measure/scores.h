// The scores of a classifier: which tensors may hold them, and how classes rank by them.
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

// The order of classes: higher scores first, NaN last, then by number.
bool ranks_before(std::span<const float> scores, size_t a, size_t b);

// Requirement: there is a score.
size_t best_class(std::span<const float> scores);

}  // namespace millrace::quantise
