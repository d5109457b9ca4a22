// Functions of one operand.
#include <gtest/gtest.h>

#include "tests/device_cpu/accelerated/as_plain.h"

namespace millrace::device::cpu {
namespace {

// Elements from -6 to 6, where the functions bend.
Given operand() {
  Given x = input_of({2, 5, 7, 9}, 1);
  for (float& element : x.elements.data) element *= 6;
  return x;
}

TEST(FastFunctions, GiveWhatThePlainKernelsGive) {
  expect_as_plain({{"Gelu", {}}, {operand()}});
  expect_as_plain({{"Gelu", {{"approximate", std::string("tanh")}}}, {operand()}});
  expect_as_plain({{"com.microsoft.Gelu", {}}, {operand()}});
  expect_as_plain({{"com.microsoft.QuickGelu", {}}, {operand()}});
  expect_as_plain({{"com.microsoft.QuickGelu", {{"alpha", 0.5f}}}, {operand()}});
}

}  // namespace
}  // namespace millrace::device::cpu
