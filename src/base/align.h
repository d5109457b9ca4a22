// Rounding sizes and offsets up, and the size of a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace millrace {

// Bytes of a page of memory, as the system maps files and gives memory back.
inline constexpr size_t kPage = 4096;

// The smallest multiple of `alignment` (not 0) that is not below `value`, or the largest that fits
// into 64 bits where there is none.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) noexcept {
  constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
  const uint64_t padded = value > kLargest - (alignment - 1) ? kLargest : value + alignment - 1;
  return padded / alignment * alignment;
}

}  // namespace millrace
