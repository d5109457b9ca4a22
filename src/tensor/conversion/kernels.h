// Vector kernels for the pairs of types and layouts that models use most. They give the same bits
// as the strided kernels, with rounding to nearest. Highway chooses the instruction set when a
// kernel is looked up. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/data_type.h"
#include "tensor/element.h"

namespace millrace::tensor {

// Converts `count` elements that are contiguous on both sides.
using ContiguousKernel = void (*)(const void* from, void* to, size_t count,
                                  const ElementRule& rule) noexcept;

// Returns null if there is no vector kernel for these types; the caller then uses the strided
// kernel.
ContiguousKernel contiguous_kernel(DataType from, DataType to) noexcept;

// Kernels that convert between `channels` planes of FLOAT32, `plane_stride` elements apart, and
// pixels that hold one block of channels each. `channels` is 1 up to the block; `pixels` is at
// least kMinPixels.
struct BlockKernels {
  static constexpr size_t kMinPixels = 4;

  // Writes whole blocks: channels that do not exist get the converted value zero.
  using Pack = void (*)(const void* planes, size_t plane_stride, size_t channels, void* block,
                        size_t pixels, const ElementRule& rule) noexcept;
  using Unpack = void (*)(const void* block, void* planes, size_t plane_stride, size_t channels,
                          size_t pixels, const ElementRule& rule) noexcept;

  Pack pack = nullptr;
  Unpack unpack = nullptr;
};

// Returns null kernels if there are none for the type of the blocked side or for this block.
BlockKernels block_kernels(DataType blocked, uint32_t block) noexcept;

}  // namespace millrace::tensor
