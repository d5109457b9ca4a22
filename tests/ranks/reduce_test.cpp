#include "ranks/reduce.h"

#include <gtest/gtest.h>

#include <limits>

#include "ranks/small_float.h"
#include "tests/ranks/reference.h"

namespace millrace::ranks {
namespace {

template <class Stored>
std::vector<const std::byte*> bytes_of(const std::vector<std::vector<Stored>>& operands) {
  std::vector<const std::byte*> pointers;
  for (const auto& operand : operands)
    pointers.push_back(reinterpret_cast<const std::byte*>(operand.data()));
  return pointers;
}

template <class Codec>
void expect_tree(Element element) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kMax, Reduction::kMin})
    for (const uint32_t ranks : {1, 2, 3, 4, 5, 7, 11, 16}) {
      auto operands = patterns<Codec>(ranks, 600, ranks);
      const auto expected = expected_reduction<Codec>(operands, reduction);
      // The result overwrites the last operand, as in a collective in place.
      reduce(bytes_of(operands), reinterpret_cast<std::byte*>(operands.back().data()), 600, element,
             reduction);
      EXPECT_EQ(operands.back(), expected)
          << to_string(element) << ' ' << to_string(reduction) << " of " << ranks;
    }
}

TEST(Reduce, CombinesInAFixedTreeForEveryTypeAndNumberOfOperands) {
  expect_tree<Codec<int8_t>>(Element::kInt8);
  expect_tree<Codec<uint8_t>>(Element::kUint8);
  expect_tree<Codec<int16_t>>(Element::kInt16);
  expect_tree<Codec<uint16_t>>(Element::kUint16);
  expect_tree<Codec<int32_t>>(Element::kInt32);
  expect_tree<Codec<uint32_t>>(Element::kUint32);
  expect_tree<Codec<int64_t>>(Element::kInt64);
  expect_tree<Codec<uint64_t>>(Element::kUint64);
  expect_tree<Bf16Codec>(Element::kBf16);
  expect_tree<Fp16Codec>(Element::kFp16);
  expect_tree<Codec<float>>(Element::kFloat32);
  expect_tree<Codec<double>>(Element::kFloat64);
}

TEST(Reduce, IntegersWrapAround) {
  const std::vector<std::vector<int32_t>> operands = {{std::numeric_limits<int32_t>::max()}, {1}};
  int32_t result = 0;
  reduce(bytes_of(operands), reinterpret_cast<std::byte*>(&result), 1, Element::kInt32,
         Reduction::kSum);
  EXPECT_EQ(result, std::numeric_limits<int32_t>::min());
}

TEST(Reduce, ANanIsTheLargestAndTheSmallest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> operands = {{1, nan}, {nan, 1}};
  for (const Reduction reduction : {Reduction::kMax, Reduction::kMin}) {
    float result[2] = {};
    reduce(bytes_of(operands), reinterpret_cast<std::byte*>(result), 2, Element::kFloat32,
           reduction);
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1])) << to_string(reduction);
  }
}

// Conversion to float and back preserves every 8-bit value. A value half way between two neighbours
// is rounded to the even one.
template <int kExponent, int kFraction>
void expect_exact() {
  using Small = SmallFloat<kExponent, kFraction>;
  for (int bits = 0; bits < 0x80; ++bits) {
    const float value = Small::widen(static_cast<uint8_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Small::widen(Small::narrow(value))));
      continue;
    }
    EXPECT_EQ(Small::narrow(value), bits);
    EXPECT_EQ(Small::narrow(-value), bits | 0x80);
    if (bits >= Small::kInfinity - 1) continue;
    const float next = Small::widen(static_cast<uint8_t>(bits + 1));
    EXPECT_EQ(Small::narrow((value + next) / 2), bits + bits % 2) << bits;
  }
  EXPECT_EQ(Small::narrow(1e30f), Small::kInfinity);
}

TEST(Reduce, FloatsOfEightBitsRoundToNearestEven) {
  expect_exact<3, 4>();
  expect_exact<4, 3>();
  expect_exact<5, 2>();
  const std::vector<std::vector<uint8_t>> operands = {{0x38}, {0x38}, {0x38}};  // 1 in E4M3
  uint8_t result = 0;
  reduce(bytes_of(operands), reinterpret_cast<std::byte*>(&result), 1, Element::kFp8E4M3,
         Reduction::kSum);
  EXPECT_EQ((SmallFloat<4, 3>::widen(result)), 3);
}

}  // namespace
}  // namespace millrace::ranks
