// Scalar kernels for every pair of data types, which apply element.h in a strided loop: slower than
// the vector kernels (kernels.h), but complete. Thread-safe.
#pragma once

#include <cstddef>

#include "tensor/data_type.h"
#include "tensor/element.h"

namespace millrace::tensor {

// Converts `count` elements. Strides are in elements. The buffers may have any alignment, and must
// not overlap.
using StridedKernel = void (*)(const void* from, size_t from_stride, void* to, size_t to_stride,
                               size_t count, const ElementRule& rule) noexcept;

// Returns null if one of the types is UNKNOWN or not in the list.
StridedKernel strided_kernel(DataType from, DataType to) noexcept;

}  // namespace millrace::tensor
