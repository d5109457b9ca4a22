// Vector loops for RGBX images, whose pixels have room for a fourth channel, as they lie in HW
// views: they take out the three channels. That is the first reorder of a network whose
// convolutions read channels innermost, or in blocks. oneDNN moves one element at a time. The
// instruction set is chosen when a function is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::reorders::rgbx {

inline constexpr size_t kChannels = 3, kRoom = 4;

// Converts to RGB pixels. `to` does not overlap `from`.
void compact(const uint16_t* from, uint16_t* to, size_t pixels) noexcept;

// Converts to C order: channels begin `plane` elements after each other. The same requirement.
void split(const float* from, float* to, size_t plane, size_t pixels) noexcept;

}  // namespace millrace::device::cpu::reorders::rgbx
