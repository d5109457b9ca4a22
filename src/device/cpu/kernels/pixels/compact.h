// Pictures of pixels with room for a fourth channel, as they lie in HW views, to pixels of three:
// the first reorder of networks in BF16 whose images have their channels innermost. The library
// moves one element at a time. The instruction set is chosen when it is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels::pixels {

inline constexpr size_t kChannels = 3, kRoom = 4;

// `to` does not overlap `from`.
void compact(const uint16_t* from, uint16_t* to, size_t pixels) noexcept;

}  // namespace millrace::device::cpu::kernels::pixels
