// Conversion of the elements of an output tensor to float. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::vision {

// Converts values.size() elements at `bytes`, of any alignment, to float. INT8 and UINT8 elements
// are dequantised as element * scale; `scale` is ignored for the other types. Requirement: `type`
// is INT8, UINT8, FLOAT32, BF16 or FP16.
void read_values(const std::byte* bytes, tensor::DataType type, float scale,
                 std::span<float> values) noexcept;

}  // namespace millrace::vision
