// Normalisations.
#include <gtest/gtest.h>

#include "tests/device_cpu/accelerated/as_plain.h"

namespace millrace::device::cpu {
namespace {

TEST(FastLayerNormalization, GivesWhatThePlainKernelGives) {
  const Given x = input_of({2, 7, 48}, 1), scale = constant_of({48}, 2),
              bias = constant_of({48}, 3);
  expect_as_plain({{"LayerNormalization", {}}, {x, scale, bias}});
  expect_as_plain({{"LayerNormalization", {{"epsilon", 0.1f}}}, {x, scale}});
  expect_as_plain({{"LayerNormalization", {}}, {x, input_of({48}, 2), input_of({48}, 3)}});
}

TEST(FastLayerNormalization, TakesSeveralDimensions) {
  expect_as_plain({{"LayerNormalization", {{"axis", int64_t{1}}}},
                   {input_of({3, 5, 9}, 1), constant_of({5, 9}, 2), constant_of({5, 9}, 3)}});
}

TEST(FastLayerNormalization, LeavesStatisticsAndBroadcastsToThePlainKernel) {
  const Given x = input_of({2, 7, 48}, 1);
  expect_left_to_plain({{"LayerNormalization", {}}, {x, constant_of({48}, 2)}, 3});
  expect_left_to_plain({{"LayerNormalization", {{"axis", int64_t{1}}}}, {x, constant_of({48}, 2)}});
}

const char* const kRmsNames[] = {"RMSNormalization", "SimplifiedLayerNormalization"};

// Rows that end within a vector, too.
TEST(FastRmsNormalization, GivesWhatThePlainKernelGives) {
  for (const char* name : kRmsNames)
    for (const int64_t size : {1, 7, 48, 301}) {
      expect_as_plain({{name, {}}, {input_of({2, 7, size}, 1), constant_of({size}, 2)}});
      expect_as_plain(
          {{name, {{"epsilon", 0.1f}}}, {input_of({2, 7, size}, 1), input_of({size}, 2)}});
    }
}

TEST(FastRmsNormalization, TakesSeveralDimensions) {
  for (const char* name : kRmsNames)
    expect_as_plain(
        {{name, {{"axis", int64_t{1}}}}, {input_of({3, 5, 9}, 1), input_of({5, 9}, 2)}});
}

TEST(FastRmsNormalization, ReturnsTheInverseOfEachRow) {
  expect_as_plain(
      {{"SimplifiedLayerNormalization", {}}, {input_of({2, 7, 48}, 1), constant_of({48}, 2)}, 2});
}

// The squares of these elements are beyond the range of FP32.
TEST(FastRmsNormalization, TakesElementsOfAnyMagnitude) {
  for (const float magnitude : {1e-30f, 1e30f}) {
    Given x = input_of({3, 40}, 1);
    for (float& element : x.elements.data) element *= magnitude;
    expect_as_plain({{"RMSNormalization", {{"epsilon", 0.0f}}}, {x, constant_of({40}, 2)}});
  }
}

TEST(FastRmsNormalization, LeavesBroadcastsToThePlainKernel) {
  expect_left_to_plain({{"RMSNormalization", {{"axis", int64_t{1}}}},
                        {input_of({2, 7, 48}, 1), constant_of({48}, 2)}});
}

TEST(FastInstanceNormalization, GivesWhatThePlainKernelGives) {
  for (const graph::Dims& dims : {graph::Dims{2, 5, 7, 11}, graph::Dims{1, 3, 9},
                                  graph::Dims{1, 2, 100, 101}, graph::Dims{1, 16, 2, 3, 2}})
    expect_as_plain({{"InstanceNormalization", {{"epsilon", 1e-3f}}},
                     {input_of(dims, 1), constant_of({dims[1]}, 2), input_of({dims[1]}, 3)}});
}

// After the mean is subtracted, only the last bits of the elements remain.
TEST(FastInstanceNormalization, IsExactFarFromZero) {
  Given x = input_of({1, 2, 40, 40}, 1);
  for (float& element : x.elements.data) element += 1024;
  expect_as_plain({{"InstanceNormalization", {}}, {x, constant_of({2}, 2), constant_of({2}, 3)}},
                  {2e-6, 10});
}

TEST(FastGroupNormalization, GivesWhatThePlainKernelGives) {
  for (const int64_t groups : {1, 2, 3, 6})
    expect_as_plain({{"GroupNormalization", {{"num_groups", groups}}},
                     {input_of({2, 6, 5, 7}, 1), constant_of({6}, 2), constant_of({6}, 3)}});
}

TEST(FastGroupNormalization, LeavesScalesOfGroupsToThePlainKernel) {
  expect_left_to_plain({{"GroupNormalization", {{"num_groups", int64_t{2}}}},
                        {input_of({2, 6, 5, 7}, 1), constant_of({2}, 2), constant_of({2}, 3)}});
}

}  // namespace
}  // namespace millrace::device::cpu
