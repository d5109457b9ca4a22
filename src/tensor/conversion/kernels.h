// Vector kernels for the pairs of types and layouts that models use most. They give the same bits
// as the strided kernels. The instruction set is chosen when a kernel is looked up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/data_type.h"
#include "tensor/element.h"

namespace millrace::tensor {

// Converts `count` elements that are contiguous on both sides.
using ContiguousKernel = void (*)(const void* from, void* to, size_t count,
                                  const ElementRule& rule) noexcept;

// Null where there is no vector kernel: then the strided kernel is used.
ContiguousKernel contiguous_kernel(DataType from, DataType to) noexcept;

// Convert between `channels` FLOAT32 planes, `plane_stride` elements apart, and pixels of one block
// of channels each. `channels` is 1 up to the block; `pixels` is at least kMinPixels.
struct BlockKernels {
  static constexpr size_t kMinPixels = 4;

  // Writes the whole block: lanes without a channel get the value zero.
  using Pack = void (*)(const void* planes, size_t plane_stride, size_t channels, void* block,
                        size_t pixels, const ElementRule& rule) noexcept;
  using Unpack = void (*)(const void* block, void* planes, size_t plane_stride, size_t channels,
                          size_t pixels, const ElementRule& rule) noexcept;

  Pack pack = nullptr;
  Unpack unpack = nullptr;
};

// Null kernels where there are none for the type of the blocked side.
BlockKernels block_kernels(DataType blocked, uint32_t block) noexcept;

}  // namespace millrace::tensor
