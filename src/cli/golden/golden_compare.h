// Measures the difference of two results for one tensor in steps. Thread-safe.
//
// A step is the smallest difference that the tensor can represent. For a quantised tensor that is
// its scale, for other integers 1. For a floating tensor it is the unit in the last place (ULP) at
// the largest magnitude of the reference. It is one step for the whole tensor, so that noise around
// zero does not count as millions of steps. The type is that in which the program computes: that of
// the HW view, if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/golden/tolerances.h"
#include "graph/compiled_model.h"

namespace millrace::cli {

struct Difference {
  uint32_t frame = 0;
  size_t index = 0;                   // within the frame, in the order of the CPU view
  std::vector<uint32_t> coordinates;  // in the CPU view's shape
  float ours = 0;
  float theirs = 0;
};

struct Comparison {
  uint32_t frames = 0;
  double step = 1;
  // Over all elements. Infinite if two elements differ and one of them is NaN or infinite.
  double max_steps = 0;
  double mean_steps = 0;
  double max_absolute = 0;  // infinite in the same cases
  double max_relative = 0;  // to the magnitude of theirs, over elements that are not 0 there
  double cosine = 1;        // cosine_of() all elements
  std::optional<Difference> first;  // the first element that is not within the tolerances
  bool within = true;               // whether all elements and the cosine are
};

// Compares one or more whole frames, with elements in the order of the CPU view. Requirement: both
// sides have the same number of elements.
Comparison compare(const graph::Boundary& boundary, std::span<const float> ours,
                   std::span<const float> theirs, const Tolerances& tolerances);

}  // namespace millrace::cli
