// MatMulNBits with packed weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/device_cpu/accelerated/as_plain.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using tensor::DataType;

Given packed_numbers(const Dims& dims, uint32_t seed) {
  Tensor bytes = Tensor::numbers(dims, seed);
  for (float& byte : bytes.data) byte = std::clamp(std::floor(byte * 128 + 128), 0.0f, 255.0f);
  return constant(DataType::kUint8, std::move(bytes));
}

Case product(int64_t rows, int64_t depth, int64_t columns, int64_t block, bool has_zeros) {
  const int64_t blocks = (depth + block - 1) / block;
  Case test{{"com.microsoft.MatMulNBits",
             {{"K", depth}, {"N", columns}, {"bits", int64_t{4}}, {"block_size", block}}},
            {input_of({rows, depth}, 1), packed_numbers({columns, blocks, block / 2}, 2),
             constant_of({columns * blocks}, 3)}};
  if (has_zeros) test.operands.push_back(packed_numbers({columns * ((blocks + 1) / 2)}, 4));
  return test;
}

// Columns that end within a vector and within a block, too, and a rest of rows and of columns.
TEST(FastMatMulNBits, GivesWhatThePlainKernelGives) {
  for (const int64_t block : {16, 32, 64, 128, 256})
    for (const int64_t depth : {7, 40, 128, 300})
      for (const bool has_zeros : {false, true}) {
        SCOPED_TRACE(std::to_string(block) + ", " + std::to_string(depth));
        expect_as_plain(product(1, depth, 11, block, has_zeros));
        expect_as_plain(product(7, depth, 5, block, has_zeros));
      }
}

// A column must not use the scales of the next one, which the loops load together with its own.
TEST(FastMatMulNBits, KeepsTheScalesOfColumnsApart) {
  Case test = product(1, 32, 3, 32, false);
  test.operands[2].elements.data[1] = std::numeric_limits<float>::infinity();
  test.operands[2].elements.data[2] = 0;
  const auto y = results_of(test);
  EXPECT_TRUE(std::isfinite(y[0].data[0]));
  EXPECT_FALSE(std::isfinite(y[0].data[1]));
  EXPECT_EQ(y[0].data[2], 0);
}

TEST(FastMatMulNBits, LeavesComputedWeightsAndOddBlocksToThePlainKernel) {
  Case test = product(1, 40, 3, 32, false);
  test.operands[1].is_constant = false;
  expect_left_to_plain(test);
  expect_left_to_plain(product(1, 40, 3, 8, false));
}

}  // namespace
}  // namespace millrace::device::cpu
