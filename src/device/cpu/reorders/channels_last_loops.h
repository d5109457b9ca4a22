// Vector loops that copy images whose channels lie innermost, pixel by pixel: into some channels of
// another image (Concat), or every other channel of one (a channel shuffle). oneDNN moves one
// element at a time if the channels of a pixel are only a part of what lies there. The instruction
// set is chosen when a function is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::reorders::channels_last {

// The least size in bytes of the channels of a pixel: that of the shortest vector.
inline constexpr size_t kLeastBytes = 16;

// The number of pixels, the distances between them, and the channels of each that are copied. All
// but `count` are in elements.
struct Pixels {
  size_t count, from_distance, to_distance, channels;
};

// Requirement: `channels` elements have kLeastBytes. `to` does not overlap `from`.
void copy(const uint8_t* from, uint8_t* to, const Pixels& pixels) noexcept;

// Copies one of each pair of channels, the first or the second one. `from` points to the first
// pair, and all of `channels` pairs can be read. The same requirements.
void take_every_other(const uint8_t* from, bool second, uint8_t* to, const Pixels& pixels) noexcept;
void take_every_other(const uint16_t* from, bool second, uint16_t* to,
                      const Pixels& pixels) noexcept;
void take_every_other(const uint32_t* from, bool second, uint32_t* to,
                      const Pixels& pixels) noexcept;

}  // namespace millrace::device::cpu::reorders::channels_last
