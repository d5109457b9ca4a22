// Reads the bytes of an output tensor as numbers. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::vision {

// Widens the elements at `bytes`, of any alignment, to floats. INT8 and UINT8 count as
// element * scale; the other types stand for themselves. Requirements: `type` is INT8, UINT8,
// FLOAT32, BF16 or FP16, and there are at least values.size() elements at `bytes`.
void read_values(const std::byte* bytes, tensor::DataType type, float scale,
                 std::span<float> values) noexcept;

}  // namespace millrace::vision
