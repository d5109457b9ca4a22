// Integers of 2, 4 or 8 bits that are packed into bytes, the first of each byte in its lowest bits.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/align.h"

namespace millrace::tensor {

// Returns integer `index`.
constexpr uint32_t packed_integer(const uint8_t* bytes, size_t index, size_t bits) noexcept {
  const size_t per_byte = 8 / bits;
  return static_cast<uint32_t>(bytes[index / per_byte]) >> (index % per_byte * bits) &
         ((1u << bits) - 1);
}

// Returns the number of bytes that `integers` integers of `bits` bits take.
constexpr size_t packed_bytes(size_t integers, size_t bits) noexcept {
  return ceil_div(integers * bits, size_t{8});
}

}  // namespace millrace::tensor
