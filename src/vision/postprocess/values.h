// Reads the bytes of an output tensor as numbers. Thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::vision {

// Whether read_values takes elements of this type: INT8, FLOAT32, BF16 and FP16.
bool is_readable(tensor::DataType type) noexcept;

// Widens the elements at `bytes`, of any alignment, to floats. INT8 counts as element * scale; the
// other types stand for themselves. Requirements: is_readable(type), and at least values.size()
// elements at `bytes`.
void read_values(const std::byte* bytes, tensor::DataType type, float scale,
                 std::span<float> values) noexcept;

}  // namespace millrace::vision
