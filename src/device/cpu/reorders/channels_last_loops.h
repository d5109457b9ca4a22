// Images whose channels lie innermost, moved pixel by pixel: copied to a part of the channels of
// another image, or every other channel taken out, as a shuffle of channels does. oneDNN moves
// one element at a time where a pixel is not all that lies there. The instruction set is chosen
// when a function is called.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::reorders::channels_last {

// Least size of a pixel, in bytes, so that it fills a vector. Smaller ones are not moved here.
inline constexpr size_t kLeastBytes = 16;

// Distances between pixels, and how much of each is moved, in elements.
struct Pixels {
  size_t count, from_distance, to_distance, channels;
};

// Requirement: `channels` elements have kLeastBytes. `to` does not overlap `from`.
void copy(const uint8_t* from, uint8_t* to, const Pixels& pixels) noexcept;

// Takes one of each pair of channels, the first or the second one: `from` points to the first pair,
// and all of `channels` pairs can be read. The same requirements.
void take_every_other(const uint8_t* from, bool second, uint8_t* to, const Pixels& pixels) noexcept;
void take_every_other(const uint16_t* from, bool second, uint16_t* to,
                      const Pixels& pixels) noexcept;
void take_every_other(const uint32_t* from, bool second, uint32_t* to,
                      const Pixels& pixels) noexcept;

}  // namespace millrace::device::cpu::reorders::channels_last
