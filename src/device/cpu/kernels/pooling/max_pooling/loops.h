// The largest of the elements under windows of BF16 images whose channels lie innermost, by vectors
// of channels. A NaN of either sign never wins, and a window of nothing but NaNs gives -infinity,
// as with the library. Of two zeros, +0 is the larger. The instruction set is chosen when it is
// called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cpu/kernels/pooling/window_plan.h"

namespace millrace::device::cpu::kernels::max_pooling {

// Fewer channels leave vectors empty.
inline constexpr size_t kLeastChannels = 16;

// Images are [height, width, channels]; `plan` has one position in depth, and windows that see an
// element at least.
struct Work {
  const WindowPlan* plan;
  size_t channels;  // at least kLeastChannels
  const uint16_t* image;
  uint16_t* result;
  size_t first_row, rows;  // of the result
};
void run(const Work& work) noexcept;

}  // namespace millrace::device::cpu::kernels::max_pooling
