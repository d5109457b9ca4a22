// Element kernels for every pair of data types: slower than the vector kernels, but complete.
#pragma once

#include <cstddef>

#include "tensor/data_type.h"
#include "tensor/element.h"

namespace millrace::tensor {

// Converts `count` elements; strides are in elements. Any alignment is allowed.
using StridedKernel = void (*)(const void* from, size_t from_stride, void* to, size_t to_stride,
                               size_t count, const ElementRule& rule) noexcept;

// Null when one of the types is UNKNOWN or outside the list.
StridedKernel strided_kernel(DataType from, DataType to) noexcept;

}  // namespace millrace::tensor
