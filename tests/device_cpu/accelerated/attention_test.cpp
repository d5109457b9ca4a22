// Attention, and attention to buffers that are filled in part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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

// Few queries are multiplied by the keys as these lie, if these are whole vectors.
TEST(FastAttention, TakesAnyNumberOfQueries) {
  for (const int64_t queries : {1, 2, 3, 7, 8, 13, 64})
    for (const int64_t size : {16, 20, 64}) {
      expect_as_plain(attention({2, queries, size}, 130, size));
      expect_as_plain(attention({2, queries, size}, 130, size, {{2, queries, 130}}));
    }
}

// The largest score of a query stands in its last block of keys, and the correction of the results
// before it underflows.
TEST(FastAttention, CorrectsWhatItHasWhenALargerScoreFollows) {
  Case test = attention({1, 9, 16}, 200, 16);
  for (size_t i = 199 * 16; i < 200 * 16; ++i) test.operands[1].elements.data[i] *= 1000;
  expect_as_plain(test);
}

// Masks may exclude the first keys, as those of padding do, or all but one.
TEST(FastAttention, KeysMayBeExcludedByInfinity) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t queries : {2, 9}) {
    Case test = attention({1, queries, 16}, 200, 16, {{queries, 200}});
    auto& bias = test.operands[3].elements.data;
    for (size_t i = 0; i < bias.size(); ++i)
      if (i % 200 < 150 || i / 200 == 1) bias[i] = -kInfinity;
    bias[200 + 170] = 0;
    expect_as_plain(test);
  }
}

// The keys after a query are left out, in blocks as far as possible. A mask that is not causal for
// one query is added.
TEST(FastAttention, LeavesOutWhatACausalMaskHides) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  for (const float hidden : {-kInfinity, kLowest})
    for (const int64_t keys : {300, 700}) {
      Case test = attention({2, 300, 16}, keys, 16);
      test.operands.push_back(constant_of({300, keys}, 4));
      auto& bias = test.operands[3].elements.data;
      for (int64_t i = 0; i < 300 * keys; ++i)
        bias[static_cast<size_t>(i)] = i % keys > i / keys + keys - 300 ? hidden : 0;
      expect_as_plain(test);
      bias[static_cast<size_t>(200 * keys + 1)] = 3;
      expect_as_plain(test);
    }
}

// As a softmax does.
TEST(FastAttention, QueriesWithoutAKeyOrWithANanGetNan) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t queries : {4, 9}) {
    Case test = attention({1, queries, 16}, 200, 16, {{queries, 200}});
    auto& bias = test.operands[3].elements.data;
    std::fill_n(bias.begin(), 200, -kInfinity);
    bias[200 + 3] = std::numeric_limits<float>::quiet_NaN();
    bias[400 + 180] = kInfinity;
    const std::vector<float> y = results_of(test)[0].data;
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i < size_t{3} * 16) << i;
  }
}

TEST(FastAttention, ManyQueriesAreComputedInBlocks) {
  expect_as_plain(attention({2, 650, 4}, 1000, 4, {{1, 1, 1000}}));
  expect_as_plain(attention({2, 650, 4}, 1000, 4, {{2, 650, 1}}));
}

TEST(FastAttention, LeadingDimensionsOfTheBiasBroadcast) {
  expect_as_plain(attention({3, 2, 300, 4}, 400, 4, {{3, 2, 1, 400}}));
}

TEST(FastAttention, OperandsMayBeConstants) {
  Case test = attention({2, 10, 12}, 14, 8);
  test.operands[1] = constant_of({2, 14, 12}, 2);
  test.operands.push_back(constant_of({10, 14}, 4));
  expect_as_plain(test);
}

// Buffers of 300 keys of each of three sequences.
Case cached(int64_t heads, int64_t groups, int64_t queries, int64_t size,
            std::vector<graph::Attribute> attributes = {}, bool has_sinks = false) {
  attributes.push_back({"scale", 0.5f});
  std::ranges::sort(attributes, {}, &graph::Attribute::name);
  Case test{
      {"millrace.CachedAttention", std::move(attributes)},
      {input_of({3, heads, queries, size}, 1), input_of({3, groups, 300, size}, 2),
       input_of({3, groups, 300, size}, 3), input(tensor::DataType::kInt64, {{3}, {270, 2, 300}})}};
  if (has_sinks) test.operands.push_back(input_of({heads}, 4));
  return test;
}

TEST(FastCachedAttention, GivesWhatThePlainKernelGives) {
  for (const int64_t queries : {1, 2, 7, 40})
    for (const int64_t size : {16, 20}) {
      expect_as_plain(cached(4, 2, queries, size));
      expect_as_plain(cached(4, 4, queries, size, {{"causal", int64_t{0}}}));
      expect_as_plain(cached(3, 1, queries, size, {{"window", int64_t{5}}}));
      expect_as_plain(cached(4, 2, queries, size, {{"window", int64_t{260}}}, true));
    }
}

TEST(FastCachedAttention, TakesManyQueriesAndManyHeads) {
  expect_as_plain(cached(1, 1, 299, 4));
  expect_as_plain(cached(270, 1, 1, 4, {}, true));
}

TEST(FastCachedAttention, LengthsMayBeAnything) {
  for (const float length : {0.0f, -9.0f, 301.0f, 1e9f})
    for (const int64_t queries : {1, 3}) {
      Case test = cached(2, 1, queries, 16, {{"window", int64_t{4}}});
      test.operands[3].elements.data = {length, 1, 5};
      expect_as_plain(test);
    }
}

// Memory after the end of a sequence may hold anything.
TEST(FastCachedAttention, ReadsNothingAfterASequence) {
  for (const int64_t queries : {1, 9}) {
    Case test = cached(4, 2, queries, 16);
    const std::vector<float> wanted = results_of(test)[0].data;
    for (const size_t operand : {1, 2}) {
      auto& elements = test.operands[operand].elements.data;
      for (size_t i = 0; i < size_t{4} * 300 * 16; ++i) {
        const size_t length = i < size_t{2} * 300 * 16 ? 270 : 2;
        if (i / 16 % 300 >= length) elements[i] = std::numeric_limits<float>::quiet_NaN();
      }
    }
    const std::vector<float> actual = results_of(test)[0].data;
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(actual[i], wanted[i]) << i;
  }
}

TEST(FastAttention, TakesManyDimensions) {
  expect_as_plain(attention({1, 1, 1, 1, 2, 3, 4}, 4, 5));
}

}  // namespace
}  // namespace millrace::device::cpu
