#include "cli/conformance/compare_elements.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensor/half.h"

namespace millrace::test {
namespace {

using cli::ElementComparison;
using ::onnx::TensorProto;

template <class T>
ElementComparison compare(int type, const std::vector<T>& ours, const std::vector<T>& expected) {
  const auto result = cli::compare_elements(type, std::as_bytes(std::span(ours)),
                                            std::as_bytes(std::span(expected)));
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : ElementComparison{};
}

// The ULP between two single elements.
template <class T>
double ulp(int type, T ours, T expected) {
  return compare<T>(type, {ours}, {expected}).error.ulp.value_or(-1);
}

template <class T>
bool is_right(int type, T ours, T expected) {
  return compare<T>(type, {ours}, {expected}).wrong == 0;
}

uint16_t half(float value) {
  return tensor::float_to_fp16(value);
}
uint16_t bf16(float value) {
  return tensor::float_to_bf16(value);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(CompareElements, CountsStepsOfEveryFloatingType) {
  EXPECT_EQ(ulp(TensorProto::FLOAT, std::nextafter(1.0f, 2.0f), 1.0f), 1);
  EXPECT_EQ(ulp(TensorProto::FLOAT, 1.0f, 2.0f), 1 << 23);
  EXPECT_EQ(ulp(TensorProto::DOUBLE, std::nextafter(1.0, 0.0), 1.0), 1);
  EXPECT_EQ(ulp(TensorProto::DOUBLE, 1.0, 2.0), std::ldexp(1.0, 52));
  EXPECT_EQ(ulp(TensorProto::FLOAT16, half(2), half(1)), 1 << 10);
  EXPECT_EQ(ulp(TensorProto::BFLOAT16, bf16(1), bf16(2)), 1 << 7);
}

TEST(CompareElements, CountsStepsAcrossZero) {
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ulp(TensorProto::FLOAT, least, -least), 2);
  EXPECT_EQ(ulp(TensorProto::FLOAT, 0.0f, -0.0f), 0);
  EXPECT_EQ(ulp(TensorProto::FLOAT16, uint16_t{0x8001}, uint16_t{0x0001}), 2);
  EXPECT_EQ(ulp<double>(TensorProto::DOUBLE, std::numeric_limits<double>::max(),
                        std::numeric_limits<double>::lowest()),
            std::ldexp(1.0, 64) - std::ldexp(1.0, 53));
}

TEST(CompareElements, NanEqualsNanOnly) {
  EXPECT_EQ(ulp(TensorProto::FLOAT, kNan, -kNan), 0);
  EXPECT_TRUE(is_right(TensorProto::FLOAT, kNan, kNan));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, kNan, 0.0f));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, 0.0f, kNan));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, kInfinity, kNan));
  EXPECT_EQ(ulp(TensorProto::FLOAT, kNan, 0.0f), kInfinity);
  EXPECT_TRUE(is_right(TensorProto::FLOAT16, half(kNan), half(kNan)));
  EXPECT_TRUE(is_right(TensorProto::BFLOAT16, bf16(kNan), bf16(kNan)));
}

TEST(CompareElements, AnInfinityEqualsItselfOnly) {
  EXPECT_TRUE(is_right(TensorProto::FLOAT, kInfinity, kInfinity));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, kInfinity, -kInfinity));
  // Next to infinity, and within any relative tolerance of it.
  EXPECT_FALSE(is_right(TensorProto::FLOAT, std::numeric_limits<float>::max(), kInfinity));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, kInfinity, std::numeric_limits<float>::max()));
  EXPECT_EQ(ulp(TensorProto::FLOAT, kInfinity, 1.0f), kInfinity);
}

TEST(CompareElements, ToleratesWhatTheStandardsTestsDo) {
  EXPECT_TRUE(is_right(TensorProto::FLOAT, 1000.9f, 1000.0f));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, 1001.1f, 1000.0f));
  EXPECT_TRUE(is_right(TensorProto::FLOAT, 9e-8f, 0.0f));
  EXPECT_FALSE(is_right(TensorProto::FLOAT, 1.1e-7f, 0.0f));
  EXPECT_FALSE(is_right(TensorProto::DOUBLE, 1.1e-7, 0.0));
}

// Neighbours in bfloat16 are 0.4 to 0.8 percent apart.
TEST(CompareElements, ToleratesNeighbours) {
  const uint16_t one = bf16(1);
  EXPECT_TRUE(is_right<uint16_t>(TensorProto::BFLOAT16, one + 1, one));
  EXPECT_FALSE(is_right<uint16_t>(TensorProto::BFLOAT16, one + 2, one));
}

TEST(CompareElements, IntegersMustBeEqual) {
  EXPECT_FALSE(is_right<int64_t>(TensorProto::INT64, 1'000'000'001, 1'000'000'000));
  EXPECT_FALSE(is_right<uint8_t>(TensorProto::UINT8, 254, 255));
  EXPECT_FALSE(is_right<uint8_t>(TensorProto::BOOL, 0, 1));
  EXPECT_TRUE(is_right<int8_t>(TensorProto::INT8, -128, -128));
  const auto extremes = compare<int64_t>(TensorProto::INT64, {INT64_MIN, 5}, {INT64_MAX, 5});
  EXPECT_EQ(extremes.error.absolute, std::ldexp(1.0, 64));
  EXPECT_FALSE(extremes.error.ulp.has_value());
  EXPECT_EQ(compare<int8_t>(TensorProto::INT8, {-128}, {127}).error.absolute, 255);
}

TEST(CompareElements, NamesTheFirstWrongElement) {
  const auto result = compare<float>(TensorProto::FLOAT, {1, 2.5f, 3, 9}, {1, 2, 3, 4});
  EXPECT_EQ(result.wrong, 2u);
  ASSERT_TRUE(result.first.has_value());
  EXPECT_EQ(result.first->index, 1u);
  EXPECT_EQ(result.first->ours, "2.5");
  EXPECT_EQ(result.first->expected, "2");
  EXPECT_EQ(result.error.absolute, 5);
}

TEST(CompareElements, OtherTypesAreUnsupported) {
  EXPECT_EQ(cli::compare_elements(TensorProto::STRING, {}, {}).status().code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::test
