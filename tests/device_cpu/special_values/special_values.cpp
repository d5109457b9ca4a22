#include "tests/device_cpu/special_values/special_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace millrace::device::cpu {

using graph::Dims;

std::string_view class_of(float x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return "finite";
}

void expect_classes(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  for (size_t i = 0; i < expected.data.size(); ++i)
    ASSERT_EQ(class_of(actual.data[i]), class_of(expected.data[i]))
        << "element " << i << ": " << actual.data[i] << " instead of " << expected.data[i];
}

Tensor image_with(const Dims& dims, const Dims& at, float value) {
  Tensor x = Tensor::numbers(dims, 1);
  x.at(at) = value;
  return x;
}

}  // namespace millrace::device::cpu
