// Conversion of the core's tensor descriptions to NpuTensorInfo, and the check of an NpuTensorInfo
// that a program passes.
#pragma once

#include <cstddef>

#include "tensor/desc.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

// Converts a description. A tensor of rank 0 is described as a vector of one element, since an
// NpuTensorInfo without a shape is incomplete and could not be used to allocate memory.
::vart::NpuTensorInfo make_tensor_info(const tensor::TensorDesc& desc,
                                       ::vart::TensorDirection direction, ::vart::TensorType type);

// "input" or "output", for messages.
const char* name_of_side(::vart::TensorDirection direction) noexcept;

// Returns the name of the first member that `info` lacks to create a tensor; null if it is
// complete.
const char* missing_in(const ::vart::NpuTensorInfo& info) noexcept;

}  // namespace millrace::vartml
