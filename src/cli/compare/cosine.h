// How far the directions of two tensors agree. Thread-safe.
#pragma once

#include <span>

namespace millrace::cli {

// The cosine of the angle between two vectors. Always a number: what is none counts as zero, and
// infinity as so large that only other infinities matter beside it; 1 where both are zero, 0 where
// one is. Requirement: equally many values on both sides.
double cosine_of(std::span<const float> ours, std::span<const float> theirs);

}  // namespace millrace::cli
