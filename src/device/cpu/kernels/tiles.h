// Tiles: the registers of the matrix instructions (AMX). A process asks the system for permission
// to use them, and a thread configures their sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::device::cpu::kernels {

// Whether the processor has them, MILLRACE_MAX_ISA allows them, and the system permits this process
// to use them, which it is asked once. Thread-safe.
bool may_use_tiles();

// The largest number of rows of a tile, and the largest size of a row.
inline constexpr size_t kTileRows = 16, kTileRowBytes = 64;

// The sizes of all tiles, in memory as the processor reads them.
struct alignas(64) TileConfiguration {
  constexpr void set(size_t tile, size_t rows_of_tile, size_t bytes) {
    rows[tile] = static_cast<uint8_t>(rows_of_tile);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }

  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == 64);

}  // namespace millrace::device::cpu::kernels
