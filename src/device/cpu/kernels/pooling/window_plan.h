// The positions of the windows of a Pool.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graph/operators.h"

namespace millrace::device::cpu::kernels {

// The indices of one dimension that a window covers at one of its positions.
struct Taps {
  int64_t first = 0;    // the first index of the input,
  int64_t count = 0;    // and how many there are, a dilation apart
  int64_t counted = 0;  // how many elements the mean divides by, padding included where it counts
};

// How the window moves over one dimension.
struct WindowAxis {
  int64_t size = 1;                               // of the input
  int64_t step = 1;                               // the dilation
  std::vector<Taps> positions = {Taps{0, 1, 1}};  // one per output index
};

// The axes depth, height and width. Images of fewer dimensions have leading ones.
using WindowPlan = std::array<WindowAxis, 3>;

// `from` and `to` are the dims of the operand and of the result.
WindowPlan window_plan(const graph::Pool& op, const graph::Dims& from, const graph::Dims& to);

}  // namespace millrace::device::cpu::kernels
