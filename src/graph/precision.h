// Precision: the floating-point format in which the operators of NPU partitions compute.
#pragma once

#include <cstdint>

#include "tensor/data_type.h"

namespace millrace::graph {

enum class Precision : uint8_t { kFp32 = 0, kBf16 = 1, kFp16 = 2 };
const char* name_of(Precision precision) noexcept;  // "fp32", "bf16", "fp16"
// The element type of HW views, and of the weights of convolutions and matrix products in the
// archive.
tensor::DataType storage_type(Precision precision) noexcept;

}  // namespace millrace::graph
