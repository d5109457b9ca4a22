// Helpers for the tests of NaN, infinities, denormal numbers and zeros of either sign.
#pragma once

#include <limits>
#include <string_view>

#include "graph/operators.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// Returns the class of an element, which tests compare: "NaN", "inf", "-inf" or "finite".
std::string_view class_of(float x);
// Fails at the first element whose class differs.
void expect_classes(const Tensor& actual, const Tensor& expected);

// An image of small numbers with one special value at the index `at`.
Tensor image_with(const graph::Dims& dims, const graph::Dims& at, float value);

}  // namespace millrace::device::cpu
