// NpuTensorInfo: made from the core's descriptions, and checked when it comes from a program.
#pragma once

#include <cstddef>

#include "tensor/desc.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

// A tensor of rank 0 is described as a vector of one: memory is asked for with descriptions, and
// one without a shape is incomplete.
::vart::NpuTensorInfo make_tensor_info(const tensor::TensorDesc& desc,
                                       ::vart::TensorDirection direction, ::vart::TensorType type);

// "input" or "output", for messages.
const char* name_of_side(::vart::TensorDirection direction) noexcept;

// Returns what `info` lacks for a tensor to be made from it; null if it lacks nothing.
const char* missing_in(const ::vart::NpuTensorInfo& info) noexcept;

}  // namespace millrace::vartml
