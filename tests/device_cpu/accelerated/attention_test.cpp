// Attention.
#include <gtest/gtest.h>

#include "tests/device_cpu/accelerated/as_plain.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;

Case attention(Dims query, int64_t keys, int64_t size, std::vector<Dims> bias = {}) {
  Dims key = query, value = query;
  key[key.size() - 2] = value[value.size() - 2] = keys;
  value.back() = size;
  Case test{{"millrace.Attention", {{"scale", 0.5f}}},
            {input_of(query, 1), input_of(key, 2), input_of(value, 3)}};
  for (const Dims& dims : bias) test.operands.push_back(input_of(dims, 4));
  return test;
}

TEST(FastAttention, GivesWhatThePlainKernelGives) {
  expect_as_plain(attention({2, 3, 10, 12}, 14, 8));
  expect_as_plain(attention({7, 16}, 5, 16));
  expect_as_plain(attention({4, 1, 16}, 1, 16));
  expect_as_plain(attention({2, 1, 3, 5, 8}, 6, 8));
}

TEST(FastAttention, BiasesBroadcastAlongAnyDimension) {
  for (const Dims& bias : {Dims{}, Dims{14}, Dims{10, 1}, Dims{3, 1, 1}, Dims{2, 1, 1, 14},
                           Dims{1, 3, 10, 14}, Dims{2, 3, 10, 14}})
    expect_as_plain(attention({2, 3, 10, 12}, 14, 8, {bias}));
}

// The scores of a head are 2.6 MB, so that it is computed in several blocks, the last of which
// overlaps the one before.
TEST(FastAttention, ManyQueriesAreComputedInBlocks) {
  expect_as_plain(attention({2, 650, 4}, 1000, 4, {{1, 1, 1000}}));
  expect_as_plain(attention({2, 650, 4}, 1000, 4, {{2, 650, 1}}));
}

// Two heads fit into a block and three do not.
TEST(FastAttention, HeadsAreComputedTogetherWhereTheyFit) {
  expect_as_plain(attention({3, 2, 300, 4}, 400, 4, {{3, 2, 1, 400}}));
}

TEST(FastAttention, OperandsMayBeConstants) {
  Case test = attention({2, 10, 12}, 14, 8);
  test.operands[1] = constant_of({2, 14, 12}, 2);
  test.operands.push_back(constant_of({10, 14}, 4));
  expect_as_plain(test);
}

TEST(FastAttention, LeavesManyDimensionsToThePlainKernel) {
  expect_left_to_plain(attention({1, 1, 1, 1, 2, 3, 4}, 4, 5));
}

}  // namespace
}  // namespace millrace::device::cpu
