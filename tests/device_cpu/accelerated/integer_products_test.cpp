// Convolutions and matrix products of bytes.
#include <gtest/gtest.h>

#include <random>

#include "base/process/topology.h"
#include "tests/device_cpu/accelerated/as_plain.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::ValueId;
using tensor::DataType;

// Sums of integers are exact, and what follows is rounded as the plain kernel rounds.
constexpr Tolerance kExact = {0, 2e-2};

constexpr int kLowest[] = {-128, 0};  // of INT8 and UINT8

// Bytes of the whole range of a type, both ends among them.
Tensor bytes(const Dims& dims, DataType type, uint32_t seed) {
  const int low = type == DataType::kInt8 ? kLowest[0] : kLowest[1];
  std::mt19937 random(seed);
  Tensor tensor = Tensor::zeros(dims);
  for (float& element : tensor.data)
    element = static_cast<float>(low + static_cast<int>(random() % 256));
  tensor.data.front() = static_cast<float>(low);
  tensor.data.back() = static_cast<float>(low + 255);
  return tensor;
}

Given one(DataType type, float value) {
  return input(type, {{}, {value}});
}

struct Operands {
  DataType x = DataType::kUint8, weights = DataType::kInt8;
  float x_zero = 0;
  std::vector<float> weight_zeros = {};
};

// Types and zero points that the kernels meet in different ways.
std::vector<Operands> kinds(size_t channels) {
  const std::vector<float> some(channels, 3);
  return {{DataType::kUint8, DataType::kInt8, 0, {}},
          {DataType::kUint8, DataType::kInt8, 131, {0}},
          {DataType::kInt8, DataType::kInt8, -7, {}},
          {DataType::kUint8, DataType::kUint8, 255, {128}},
          {DataType::kInt8, DataType::kUint8, 127, {0}},
          {DataType::kUint8, DataType::kInt8, 5, some},
          {DataType::kUint8, DataType::kUint8, 9, std::vector<float>(channels, 250)}};
}

std::vector<Given> operands_of(const Operands& kind, const Dims& x, const Dims& weights) {
  std::vector<Given> operands = {input(kind.x, bytes(x, kind.x, 1)),
                                 constant(kind.weights, bytes(weights, kind.weights, 2)),
                                 one(kind.x, kind.x_zero)};
  if (kind.weight_zeros.empty()) return operands;
  const auto count = static_cast<int64_t>(kind.weight_zeros.size());
  operands.push_back(
      constant(kind.weights, {count == 1 ? Dims{} : Dims{count}, kind.weight_zeros}));
  return operands;
}

// The same with a scale and a bias per channel, which give FLOAT32.
std::vector<Given> scaled(std::vector<Given> operands, int64_t channels) {
  while (operands.size() < 4) operands.push_back(absent());
  operands.push_back(input_of({channels}, 3));
  operands.push_back(constant_of({channels}, 4));
  return operands;
}

// Without dot products of bytes in vectors there are no fast kernels.
class WithDotProducts : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!topology().features.avx512_vnni)
      GTEST_SKIP() << "this processor has no dot products of bytes";
  }
};
using FastConvInteger = WithDotProducts;
using FastMatMulInteger = WithDotProducts;

TEST_F(FastConvInteger, GivesWhatThePlainKernelGives) {
  const graph::Fallback op{"ConvInteger", {{"pads", Dims{1, 0, 2, 1}}, {"strides", Dims{1, 2}}}};
  for (const Operands& kind : kinds(19))
    expect_as_plain({op, operands_of(kind, {2, 5, 9, 8}, {19, 5, 3, 3})}, kExact);
}

TEST_F(FastConvInteger, TakesOneDimension) {
  const graph::Fallback op{"ConvInteger", {{"dilations", Dims{2}}, {"pads", Dims{2, 1}}}};
  for (const Operands& kind : kinds(4))
    expect_as_plain({op, operands_of(kind, {1, 17, 30}, {4, 17, 3})}, kExact);
}

TEST_F(FastConvInteger, TakesGroups) {
  const graph::Fallback op{"ConvInteger", {{"group", int64_t{24}}, {"pads", Dims{1, 1, 1, 1}}}};
  for (const Operands& kind : {Operands{}, Operands{DataType::kInt8, DataType::kInt8, 3, {}}})
    expect_as_plain({op, operands_of(kind, {1, 24, 7, 6}, {24, 1, 3, 3})}, kExact);
  const graph::Fallback two{"ConvInteger", {{"group", int64_t{2}}}};
  expect_as_plain({two, operands_of({}, {1, 32, 7, 6}, {16, 16, 3, 3})}, kExact);
}

// The library's own kernels for these would round sums.
TEST_F(FastConvInteger, TakesDilatedKernels) {
  const graph::Fallback op{
      "ConvInteger",
      {{"dilations", Dims{2, 3}}, {"pads", Dims{2, 1, 0, 3}}, {"strides", Dims{1, 2}}}};
  for (const Operands& kind : kinds(3))
    expect_as_plain({op, operands_of(kind, {2, 600, 7, 9}, {3, 600, 3, 2})}, kExact);
}

// Its sums exceed 24 bits, which FLOAT32 could not hold.
TEST_F(FastConvInteger, SumsLargeNumbersExactly) {
  for (const float zero : {0.0f, 255.0f}) {
    Given x = input(DataType::kUint8, Tensor::zeros({1, 640, 4, 4}));
    for (size_t i = 0; i < x.elements.data.size(); ++i)
      x.elements.data[i] = zero == 0 ? static_cast<float>(255 - i % 7) : static_cast<float>(i % 7);
    Given weights = constant(DataType::kInt8, Tensor::zeros({3, 640, 3, 3}));
    for (size_t i = 0; i < weights.elements.data.size(); ++i)
      weights.elements.data[i] = static_cast<float>(127 - i % 5);
    const graph::Fallback op{"millrace.ConvIntegerToFloat", {}};
    expect_as_plain({op, scaled({x, weights, one(DataType::kUint8, zero)}, 3)}, kExact);
  }
}

TEST_F(FastConvInteger, ScalesItsSums) {
  const graph::Fallback op{"millrace.ConvIntegerToFloat", {{"pads", Dims{1, 1, 1, 1}}}};
  for (const Operands& kind : kinds(19)) {
    const auto operands = operands_of(kind, {2, 5, 9, 8}, {19, 5, 3, 3});
    expect_as_plain({op, scaled(operands, 19)}, kExact);
  }
  auto operands = operands_of({}, {2, 5, 9, 8}, {19, 5, 3, 3});
  operands.push_back(absent());
  operands.push_back(one(DataType::kFloat32, 0.013f));
  expect_as_plain({op, operands}, kExact);
}

TEST_F(FastConvInteger, LeavesOtherVariantsToThePlainKernel) {
  const graph::Fallback op{"ConvInteger", {}};
  // Three dimensions, weights that are no constant, and zero points of groups that do not fit.
  expect_left_to_plain({op, operands_of({}, {1, 2, 3, 4, 5}, {2, 2, 1, 2, 3})});
  auto operands = operands_of({}, {1, 2, 5, 5}, {3, 2, 3, 3});
  operands[1].is_constant = false;
  expect_left_to_plain({op, operands});
  expect_left_to_plain(
      {{"ConvInteger", {{"group", int64_t{2}}}},
       operands_of({DataType::kUint8, DataType::kUint8, 0, {3}}, {1, 2, 5, 5}, {2, 1, 3, 3})});
  expect_left_to_plain(
      {{"ConvInteger", {{"pads", Dims{1000, 1000, 1000, 1000}}, {"strides", Dims{1000, 1000}}}},
       operands_of({}, {1, 2, 5, 5}, {3, 2, 3, 3})});
}

TEST_F(FastMatMulInteger, GivesWhatThePlainKernelGives) {
  for (const Operands& kind : kinds(33)) {
    const auto operands = operands_of(kind, {3, 5, 40}, {40, 33});
    expect_as_plain({{"MatMulInteger", {}}, operands}, kExact);
    expect_as_plain({{"millrace.MatMulIntegerToFloat", {}}, scaled(operands, 33)}, kExact);
  }
}

TEST_F(FastMatMulInteger, LeavesOtherVariantsToThePlainKernel) {
  const graph::Fallback op{"MatMulInteger", {}};
  expect_left_to_plain({op, operands_of({}, {3, 5, 40}, {3, 40, 33})});
  auto operands = operands_of({}, {5, 40}, {40, 33});
  operands[2] = input(DataType::kUint8, {{5}, {1, 2, 3, 4, 5}});
  expect_left_to_plain({op, operands});
}

// Two convolutions, the second of which reads what the first gave, quantised anew.
std::shared_ptr<const graph::CompiledModel> chain(bool shows_bytes, bool in_partitions = false) {
  ModelBuilder builder;
  if (in_partitions) builder.begin_partition(graph::PartitionKind::kCpu);
  const auto quantise = [&](ValueId x) {
    return builder.fallback({"DynamicQuantizeLinear", {}}, {x}, 3);
  };
  const auto convolve = [&](const std::vector<ValueId>& x, const Dims& dims, uint32_t seed) {
    std::vector<int8_t> elements;
    for (const float element : bytes(dims, DataType::kInt8, seed).data)
      elements.push_back(static_cast<int8_t>(element));
    const ValueId weights = builder.integers<int8_t>(dims, DataType::kInt8, elements);
    return builder.fallback({"millrace.ConvIntegerToFloat", {{"pads", Dims{1, 1, 1, 1}}}},
                            {x[0], weights, x[2], graph::kNoValue, x[1]})[0];
  };
  const auto first = quantise(builder.input({1, 6, 7, 5}));
  const auto second = quantise(convolve(first, {9, 6, 3, 3}, 1));
  if (in_partitions) builder.begin_partition(graph::PartitionKind::kNpu);
  builder.output(convolve(second, {4, 9, 3, 3}, 2));
  if (shows_bytes) builder.output(second[0]);
  return builder.build();
}

TEST_F(FastConvInteger, ReadsBytesWithChannelsLast) {
  const Tensor x = Tensor::numbers({1, 6, 7, 5}, 1);
  const auto alone = load(chain(false)), shown = load(chain(true));
  EXPECT_EQ(count_steps(*alone, "Reorder") + 1, count_steps(*shown, "Reorder"));
  EXPECT_EQ(run(*alone, {x})[0].data, run(*shown, {x})[0].data);
}

TEST_F(FastConvInteger, ReadsBytesOfAnotherPartition) {
  const Tensor x = Tensor::numbers({1, 6, 7, 5}, 1);
  EXPECT_EQ(run(*load(chain(false, true)), {x})[0].data, run(*load(chain(false)), {x})[0].data);
}

}  // namespace
}  // namespace millrace::device::cpu
