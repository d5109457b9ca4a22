#include "tensor/conversion/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <thread>

#include "tests/tensor/reference.h"
#include "tests/tensor/targets.h"
#include "tests/tensor/values.h"

namespace millrace::tensor {
namespace {

using reference::Bytes;
using testing::HasSubstr;

std::vector<DataType> all_types() {
  std::vector<DataType> types;
  for (int i = 1; i < kDataTypeCount; ++i) types.push_back(static_cast<DataType>(i));
  return types;
}

std::vector<QuantParams> all_quants() {
  return {{1.0, 0, Rounding::kUnknown},
          {0.03125, 0, Rounding::kNearestEven},
          {0.1, 3, Rounding::kNearestEven},
          {0.7, 117, Rounding::kUnknown},
          {0.1, 5, Rounding::kTowardZero}};
}

std::vector<Layout> layouts_of_rank(size_t rank) {
  if (rank == 4)
    return {Layout::kNchw,   Layout::kNhwc,    Layout::kHcwnc4,
            Layout::kHcwnc8, Layout::kHcwnc16, Layout::kGeneric};
  if (rank == 3) return {Layout::kNch, Layout::kNhc, Layout::kNhw, Layout::kNwc, Layout::kGeneric};
  if (rank == 2) return {Layout::kNc, Layout::kGeneric};
  return {Layout::kGeneric};
}

std::string text(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant) {
  std::string result(to_string(cpu.type));
  result += " [";
  for (const uint32_t extent : cpu.shape) result += std::to_string(extent) + ",";
  result += "] to " + std::string(to_string(hw.type)) + " " + std::string(to_string(hw.layout));
  return result + " scale " + std::to_string(quant.scale) + " zero point " +
         std::to_string(quant.zero_point);
}

// The first element that differs, so that a failure says more than "differs".
void expect_equal(const Bytes& actual, const Bytes& expected, size_t element,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(actual[i], expected[i])
        << what << ", byte " << i % element << " of element " << i / element;
}

void check(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant,
           const Bytes& cpu_values, const Bytes& hw_values) {
  const auto conversion = Conversion::plan(cpu, hw, quant);
  ASSERT_TRUE(conversion.ok()) << conversion.status().to_string();
  Bytes to_hw(hw.bytes(), 0xcd), to_cpu(cpu.bytes(), 0xcd);
  conversion->to_hw(cpu_values.data(), to_hw.data());
  conversion->to_cpu(hw_values.data(), to_cpu.data());
  const std::string what = text(cpu, hw, quant);
  expect_equal(to_hw, reference::to_hw(cpu, hw, quant, cpu_values), size_of(hw.type), what);
  expect_equal(to_cpu, reference::to_cpu(cpu, hw, quant, hw_values), size_of(cpu.type),
               what + ", back");
}

void check_all_types(const std::vector<uint32_t>& shape, Layout layout, const QuantParams& quant) {
  for (const DataType cpu_type : all_types())
    for (const DataType hw_type : all_types()) {
      const TensorDesc cpu = make_cpu_desc("t", cpu_type, shape);
      const auto hw = make_hw_desc(cpu, hw_type, layout);
      ASSERT_TRUE(hw.ok()) << hw.status().to_string();
      ASSERT_NO_FATAL_FAILURE(check(cpu, *hw, quant, random_tensor(cpu_type, cpu.elements(), 1),
                                    random_tensor(hw_type, hw->elements(), 2)));
    }
}

class EveryPair : public testing::TestWithParam<std::vector<uint32_t>> {};

TEST_P(EveryPair, EqualsReference) {
  for (const Layout layout : layouts_of_rank(GetParam().size()))
    for (const QuantParams& quant : all_quants())
      ASSERT_NO_FATAL_FAILURE(check_all_types(GetParam(), layout, quant));
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryPair,
                         testing::ValuesIn(std::vector<std::vector<uint32_t>>{{},
                                                                              {1},
                                                                              {37},
                                                                              {2, 19},
                                                                              {2, 3, 5},
                                                                              {1, 1, 1, 1},
                                                                              {1, 3, 4, 1},
                                                                              {1, 4, 2, 17},
                                                                              {1, 5, 3, 6},
                                                                              {2, 10, 2, 3},
                                                                              {1, 1000, 1, 1},
                                                                              {1, 16, 2, 33},
                                                                              {2, 3, 1, 2, 3, 2}}));

// The pairs that have vector kernels, on every instruction set.
class HotPair : public testing::TestWithParam<std::vector<uint32_t>> {};

TEST_P(HotPair, EqualsReference) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, GetParam());
  for_each_target([&] {
    for (const DataType type :
         {DataType::kFloat32, DataType::kBf16, DataType::kFp16, DataType::kInt8, DataType::kUint8})
      for (const Layout layout : layouts_of_rank(4))
        for (const QuantParams& quant : all_quants()) {
          const auto hw = make_hw_desc(cpu, type, layout);
          ASSERT_TRUE(hw.ok());
          ASSERT_NO_FATAL_FAILURE(check(cpu, *hw, quant, random_floats(cpu.elements(), 3),
                                        random_tensor(type, hw->elements(), 4)));
        }
  });
}

INSTANTIATE_TEST_SUITE_P(Images, HotPair,
                         testing::ValuesIn(std::vector<std::vector<uint32_t>>{{1, 3, 32, 40},
                                                                              {1, 1, 5, 7},
                                                                              {1, 4, 9, 16},
                                                                              {1, 10, 3, 17},
                                                                              {1, 24, 4, 4},
                                                                              {1, 33, 2, 31},
                                                                              {2, 3, 5, 17},
                                                                              {3, 21, 2, 9}}));

TEST(Conversion, PermutedGenericOrder) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {2, 3, 4, 5, 2});
  const TensorDesc hw{"t", DataType::kInt16, Layout::kGeneric, {4, 1, 0, 3, 2}, {2, 3, 2, 5, 4}};
  check(cpu, hw, {0.5, -3}, random_floats(240, 1), random_tensor(DataType::kInt16, 240, 2));
}

TEST(Conversion, Bf16RoundsEveryBoundaryToEven) {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; upper += 3)
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(std::bit_cast<float>((upper << 16) | lower));
  const auto count = static_cast<uint32_t>(values.size());
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {count});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kBf16);
  const Conversion conversion = *Conversion::plan(cpu, hw, {});
  for_each_target([&] {
    std::vector<uint16_t> out(count);
    conversion.to_hw(values.data(), out.data());
    for (uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(out[i], reference::to_bf16(values[i]))
          << std::hex << std::bit_cast<uint32_t>(values[i]);
  });
}

// Rounding directions change the bits of divisions only, and powers of two divide exactly.
TEST(Conversion, DoesNotFollowTheRoundingModeOfTheThread) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {1, 5, 3, 37});
  const Bytes values = random_floats(cpu.elements(), 5);
  const QuantParams quant{0.03125, 0};
  for_each_target([&] {
    for (const DataType type : all_types()) {
      const TensorDesc hw = *make_hw_desc(cpu, type);
      const Conversion conversion = *Conversion::plan(cpu, hw, quant);
      Bytes expected(hw.bytes()), actual(hw.bytes());
      conversion.to_hw(values.data(), expected.data());
      std::fesetround(FE_UPWARD);
      conversion.to_hw(values.data(), actual.data());
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(actual, expected) << to_string(type);
    }
  });
}

TEST(Conversion, SixtyFourBitIntegersStayExact) {
  const int64_t values[] = {(int64_t{1} << 53) + 1, INT64_MIN, INT64_MAX, INT64_MAX - 1};
  const TensorDesc cpu = make_cpu_desc("t", DataType::kInt64, {4});
  int64_t same[4];
  Conversion::plan(cpu, *make_hw_desc(cpu, DataType::kInt64), {0.5, 3})->to_hw(values, same);
  EXPECT_THAT(same, testing::ElementsAreArray(values));
  int32_t narrow[4];
  Conversion::plan(cpu, *make_hw_desc(cpu, DataType::kInt32), {})->to_hw(values, narrow);
  EXPECT_THAT(narrow, testing::ElementsAre(INT32_MAX, INT32_MIN, INT32_MAX, INT32_MAX));
}

TEST(Conversion, AnyAlignmentWillDo) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {1, 3, 5, 19});
  const Bytes values = random_floats(cpu.elements(), 6);
  for (const DataType type : all_types()) {
    const TensorDesc hw = *make_hw_desc(cpu, type);
    const Conversion conversion = *Conversion::plan(cpu, hw, {});
    Bytes from(values.size() + 1), to(hw.bytes() + 1);
    std::copy(values.begin(), values.end(), from.begin() + 1);
    conversion.to_hw(from.data() + 1, to.data() + 1);
    EXPECT_EQ(Bytes(to.begin() + 1, to.end()), reference::to_hw(cpu, hw, {}, values));
  }
}

TEST(Conversion, EveryBlockedValueComesBack) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {2, 10, 3, 5});
  Bytes values = random_floats(cpu.elements(), 7);
  for (const Layout layout : layouts_of_rank(4)) {
    const TensorDesc hw = *make_hw_desc(cpu, DataType::kFloat32, layout);
    const Conversion conversion = *Conversion::plan(cpu, hw, {});
    Bytes there(hw.bytes()), back(cpu.bytes());
    conversion.to_hw(values.data(), there.data());
    conversion.to_cpu(there.data(), back.data());
    EXPECT_EQ(back, values) << to_string(layout);
  }
}

TEST(Conversion, OnePlanServesSeveralThreads) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {1, 3, 31, 33});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kBf16);
  const Conversion conversion = *Conversion::plan(cpu, hw, {});
  const Bytes values = random_floats(cpu.elements(), 8);
  const Bytes expected = reference::to_hw(cpu, hw, {}, values);
  std::vector<Bytes> results(4, Bytes(hw.bytes()));
  std::vector<std::thread> threads;
  for (Bytes& result : results)
    threads.emplace_back([&] { conversion.to_hw(values.data(), result.data()); });
  for (std::thread& thread : threads) thread.join();
  for (const Bytes& result : results) EXPECT_EQ(result, expected);
}

TEST(Conversion, EmptyTensorTouchesNothing) {
  const TensorDesc cpu = make_cpu_desc("t", DataType::kFloat32, {1, 0, 3, 5});
  const Conversion conversion = *Conversion::plan(cpu, *make_hw_desc(cpu, DataType::kBf16), {});
  conversion.to_hw(nullptr, nullptr);
  conversion.to_cpu(nullptr, nullptr);
}

std::string refusal(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant = {}) {
  const auto result = Conversion::plan(cpu, hw, quant);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

TEST(Conversion, RefusesViewsThatAreNotOfOneTensor) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {1, 3, 4, 5});
  TensorDesc hw = *make_hw_desc(cpu, DataType::kInt8);
  hw.shape[2] = 6;
  EXPECT_THAT(refusal(cpu, hw), HasSubstr("must have shape [4,1,5,1,4], not [4,1,6,1,4]"));
  EXPECT_THAT(refusal(hw, cpu), HasSubstr("HCWNC4 is no dense layout"));
  const TensorDesc flat = make_cpu_desc("x", DataType::kFloat32, {60});
  EXPECT_THAT(refusal(flat, *make_hw_desc(cpu, DataType::kInt8)), HasSubstr("rank 4, not 1"));
  EXPECT_THAT(refusal(flat, cpu), HasSubstr("\"x\""));
  EXPECT_THAT(refusal(cpu, flat), HasSubstr("\"x\""));
  TensorDesc twice{"x", DataType::kFloat32, Layout::kGeneric, {0, 0, 1, 2}, {1, 1, 3, 4}};
  EXPECT_THAT(refusal(cpu, twice), HasSubstr("each of 0 to 3 once"));
  TensorDesc untyped = cpu;
  untyped.type = DataType::kUnknown;
  EXPECT_THAT(refusal(cpu, untyped), HasSubstr("no data type"));
}

TEST(Conversion, RefusesSizesBeyondMemory) {
  const TensorDesc huge =
      make_cpu_desc("x", DataType::kInt64, {UINT32_MAX, UINT32_MAX, UINT32_MAX, 2});
  EXPECT_THAT(refusal(huge, huge), HasSubstr("larger than any memory"));
}

TEST(Conversion, RefusesImpossibleQuantisation) {
  const TensorDesc cpu = make_cpu_desc("x", DataType::kFloat32, {8});
  const TensorDesc hw = *make_hw_desc(cpu, DataType::kInt8);
  for (const double scale : {0.0, -1.0, 1e-300, HUGE_VAL, std::nan("")})
    EXPECT_THAT(refusal(cpu, hw, {scale, 0}), HasSubstr("no positive number"));
  EXPECT_THAT(refusal(cpu, hw, {1.0, 128}), HasSubstr("zero point 128 is outside INT8"));
  const TensorDesc unquantised = *make_hw_desc(cpu, DataType::kBf16);
  EXPECT_TRUE(Conversion::plan(cpu, unquantised, {0.0, 128}).ok());
}

}  // namespace
}  // namespace millrace::tensor
