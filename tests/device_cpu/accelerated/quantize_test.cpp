// Quantisation.
#include <gtest/gtest.h>

#include "tests/device_cpu/accelerated/as_plain.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::ValueId;
using tensor::DataType;

// Bytes are equal; only BF16 rounds what comes before them.
constexpr Tolerance kExact = {0, 2e-2};

Tensor scalar(float value) {
  return {{}, {value}};
}
Given scale_of(float value) {
  return constant(DataType::kFloat32, scalar(value));
}

// Beyond the range of bytes, halfway between two of them, and what is no number.
Given wide_operand() {
  Given x = input_of({2, 3, 5, 17}, 1);
  for (float& element : x.elements.data) element *= 6;
  for (size_t i = 0; i < 40; ++i) x.elements.data[i] = 0.03125f * (static_cast<float>(i) - 20.5f);
  return x;
}

TEST(FastQuantization, GivesWhatThePlainKernelGives) {
  const graph::Fallback op{"QuantizeLinear", {}};
  expect_as_plain({op, {wide_operand(), scale_of(0.03125f)}}, kExact);
  for (const DataType type : {DataType::kInt8, DataType::kUint8}) {
    const Given zero = constant(type, scalar(7));
    expect_as_plain({op, {wide_operand(), scale_of(0.03125f), zero}}, kExact);
    expect_as_plain({op, {wide_operand(), input(DataType::kFloat32, scalar(0.03125f)), zero}},
                    kExact);
  }
}

TEST(FastQuantization, TakesNumbersThatAreNone) {
  Given x = wide_operand();
  x.elements.data[50] = INFINITY;
  x.elements.data[51] = -INFINITY;
  x.elements.data[52] = NAN;
  const Given zero = constant(DataType::kUint8, scalar(7));
  for (const float scale : {0.03125f, 0.0f, -0.5f, INFINITY, NAN})
    expect_as_plain({{"QuantizeLinear", {}}, {x, input(DataType::kFloat32, scalar(scale)), zero}},
                    {0, 1});
}

TEST(FastQuantization, LeavesBlocksToThePlainKernel) {
  expect_left_to_plain({{"QuantizeLinear", {{"axis", int64_t{0}}, {"block_size", int64_t{32}}}},
                        {input_of({64, 16}, 1), constant_of({2, 16}, 2)}});
}

TEST(FastQuantization, TakesParametersPerChannel) {
  const Given x = input_of({2, 3, 5, 17}, 1);
  const Given scales = constant(DataType::kFloat32, {{3}, {0.25f, 0.0078125f, 0.5f}});
  const Given zeros = constant(DataType::kInt8, {{3}, {-3, 100, 0}});
  expect_as_plain({{"QuantizeLinear", {}}, {x, scales, zeros}}, kExact);
  const Given bytes = input(DataType::kInt8, {{3, 40}, std::vector<float>(120, -100)});
  expect_as_plain({{"DequantizeLinear", {{"axis", int64_t{0}}}}, {bytes, scales, zeros}}, kExact);
}

TEST(FastQuantization, OfTheLastDimensionOrToOtherTypesIsLeftToThePlainKernel) {
  const Given x = input_of({4, 3}, 1);
  const Given scales = constant(DataType::kFloat32, {{3}, {0.25f, 0.0078125f, 0.5f}});
  expect_left_to_plain({{"QuantizeLinear", {{"axis", int64_t{1}}}}, {x, scales}});
  expect_left_to_plain(
      {{"QuantizeLinear", {}}, {x, scale_of(0.0078125f), constant(DataType::kInt16, scalar(0))}});
}

TEST(FastDequantization, GivesWhatThePlainKernelGives) {
  Tensor bytes{{16, 16}, std::vector<float>(256)};
  for (size_t i = 0; i < 256; ++i) bytes.data[i] = static_cast<float>(i);
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const graph::Fallback op{"DequantizeLinear", {}};
    expect_as_plain({op, {input(type, bytes), scale_of(0.3f)}}, kExact);
    expect_as_plain({op, {input(type, bytes), scale_of(-0.3f), constant(type, scalar(11))}},
                    kExact);
    for (float& number : bytes.data) number -= 128;
  }
}

TEST(FastDynamicQuantization, GivesWhatThePlainKernelGives) {
  const graph::Fallback op{"DynamicQuantizeLinear", {}};
  for (const float shift : {0.0f, 2.0f, -2.0f}) {
    Given x = input_of({3, 37}, 1);
    for (float& element : x.elements.data) element += shift;
    expect_as_plain({op, {x}, 3}, kExact);
  }
  expect_as_plain({op, {input(DataType::kFloat32, Tensor::zeros({33}))}, 3}, kExact);
}

// Its inverse is no float, so that a product with that is not the quotient.
constexpr float kStep = 0.03f;

// x -> QuantizeLinear -> DequantizeLinear, which may have another scale.
struct RoundTrip {
  float second_scale = kStep;
  bool shows_integers = false;  // they are an output, too
  DataType type = DataType::kUint8;
};

ValueId zero_point_of(ModelBuilder& builder, DataType type) {
  if (type == DataType::kUint8) return builder.integers<uint8_t>({}, type, {128});
  if (type == DataType::kInt8) return builder.integers<int8_t>({}, type, {-3});
  if (type == DataType::kUint16) return builder.integers<uint16_t>({}, type, {65000});
  return builder.integers<int16_t>({}, type, {-32700});
}

std::shared_ptr<const graph::CompiledModel> round_trip(const RoundTrip& shape) {
  ModelBuilder builder;
  const auto scale_constant = [&](float scale) { return builder.constant(scalar(scale)); };
  const ValueId zero = zero_point_of(builder, shape.type);
  const ValueId x = builder.input({1, 5, 6, 7});
  const ValueId moved = builder.node(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {x});
  const ValueId integers =
      builder.fallback({"QuantizeLinear", {}}, {moved, scale_constant(kStep), zero})[0];
  const ValueId scale = scale_constant(shape.second_scale);
  builder.output(builder.fallback({"DequantizeLinear", {}}, {integers, scale, zero})[0]);
  builder.output(builder.fallback({"DequantizeLinear", {}}, {integers, scale, zero})[0]);
  if (shape.shows_integers) builder.output(integers);
  return builder.build();
}

TEST(FastQuantization, KeepsIntegersThatAreReadOtherwise) {
  EXPECT_EQ(count_steps(*load(round_trip({0.5f, false})), "DequantizeLinear"), 2u);
  EXPECT_EQ(count_steps(*load(round_trip({kStep, true})), "DequantizeLinear"), 2u);
}

class ThereAndBack : public ::testing::TestWithParam<DataType> {};

TEST_P(ThereAndBack, RoundsAsTwoStepsDo) {
  Tensor x = Tensor::numbers({1, 5, 6, 7}, 1);
  for (float& element : x.data) element *= 6;
  for (size_t i = 0; i < 40; ++i) x.data[i] = kStep * (static_cast<float>(i) - 20.5f);
  x.data[50] = INFINITY;
  x.data[51] = -INFINITY;
  x.data[52] = NAN;
  const auto program = load(round_trip({.type = GetParam()}));
  EXPECT_EQ(count_steps(*program, "QuantizeLinear"), 1u);
  EXPECT_EQ(count_steps(*program, "DequantizeLinear"), 0u);
  const auto one = run(*program, {x});
  const auto two = run(*load(round_trip({kStep, true, GetParam()})), {x});
  EXPECT_EQ(one[0].data, two[0].data);
  EXPECT_EQ(one[1].data, two[0].data);
}

INSTANTIATE_TEST_SUITE_P(Types, ThereAndBack,
                         ::testing::Values(DataType::kUint8, DataType::kInt8, DataType::kUint16,
                                           DataType::kInt16));

}  // namespace
}  // namespace millrace::device::cpu
