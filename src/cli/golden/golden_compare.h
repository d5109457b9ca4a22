// How far two outputs of one tensor lie apart, counted in steps.
//
// A step is the smallest difference that the tensor can hold. For a quantised tensor that is its
// scale, for other integers 1. For a floating tensor it is the distance between neighbouring
// numbers of its type at the largest magnitude of the reference: one step for the whole tensor, so
// that noise around zero does not look like millions of steps. Type means the one the program
// computes in: that of the HW view where there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/compiled_model.h"

namespace millrace::cli {

struct Difference {
  uint32_t frame = 0;
  size_t index = 0;                   // within the frame, in the CPU view's order
  std::vector<uint32_t> coordinates;  // in the CPU view's shape
  float ours = 0;
  float theirs = 0;
};

struct Comparison {
  uint32_t frames = 0;
  double step = 1;
  // Over all elements. Infinite where one side is no number and the other is one.
  double max_steps = 0;
  double mean_steps = 0;
  double cosine = 1;                // cosine_of() all of them
  std::optional<Difference> first;  // the first element further apart than the tolerance
};

// Compares whole frames, one after another, in the CPU view's order. Requirement: equally many
// values on both sides.
Comparison compare(const graph::Boundary& boundary, std::span<const float> ours,
                   std::span<const float> theirs, double tolerance_steps);

}  // namespace millrace::cli
