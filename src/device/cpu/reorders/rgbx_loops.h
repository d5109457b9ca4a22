// Pictures of pixels with room for a fourth channel, as they lie in HW views, to pixels of three or
// to a plane for each channel: the first reorder of networks whose images have their channels
// innermost, or in blocks. oneDNN moves one element at a time. The instruction set is chosen
// when a function is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::reorders::rgbx {

inline constexpr size_t kChannels = 3, kRoom = 4;

// To pixels of three. `to` does not overlap `from`.
void compact(const uint16_t* from, uint16_t* to, size_t pixels) noexcept;

// To planes, which begin `plane` elements after each other. The same requirement.
void split(const float* from, float* to, size_t plane, size_t pixels) noexcept;

}  // namespace millrace::device::cpu::reorders::rgbx
