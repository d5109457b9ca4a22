// Computes the cosine similarity of two tensors. Thread-safe.
#pragma once

#include <span>

namespace millrace::cli {

// Returns the cosine of the angle between two vectors, which is never NaN: a NaN counts as 0, and
// in a vector with infinities all finite elements count as 0. It is 1 if both vectors are zero, and
// 0 if only one is. Requirement: both have the same number of elements.
double cosine_of(std::span<const float> ours, std::span<const float> theirs);

}  // namespace millrace::cli
