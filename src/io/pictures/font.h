// The letters of captions: a fixed-width bitmap font of 5 x 7 pixels. Internal to this folder.
// Thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace millrace::io {

inline constexpr int64_t kLetterWidth = 5;
inline constexpr int64_t kLetterHeight = 7;

// The columns from left to right; the lowest bit of each is its top pixel.
using Letter = std::array<uint8_t, kLetterWidth>;

// Returns the letter for a printable ASCII character, and that of '?' for any other.
const Letter& letter_of(char character) noexcept;

}  // namespace millrace::io
