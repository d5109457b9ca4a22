// Alignment of sizes and offsets, division that rounds up, and the page size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace millrace {

// The page size in bytes: the unit in which the system maps files and releases memory.
inline constexpr size_t kPage = 4096;

// Returns the smallest multiple of `alignment` that is at least `value`, or the largest multiple
// that fits in 64 bits if there is none. Requirement: `alignment` is not 0.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) noexcept {
  constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
  const uint64_t padded = value > kLargest - (alignment - 1) ? kLargest : value + alignment - 1;
  return padded / alignment * alignment;
}

// Returns the quotient, rounded up. Requirements: `number` is not negative, `divisor` is positive.
template <class Integer>
constexpr Integer ceil_div(Integer number, Integer divisor) noexcept {
  return number / divisor + (number % divisor != 0 ? 1 : 0);
}

}  // namespace millrace
