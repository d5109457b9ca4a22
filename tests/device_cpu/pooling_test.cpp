// Pooling against its definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/process/topology.h"
#include "graph/shape.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Pool;
using graph::PoolKind;
using graph::Precision;
using graph::ValueId;

struct Case {
  const char* name;
  Dims x;
  Pool op;
};

const std::vector<Case>& cases() {
  const PoolKind max = PoolKind::kMax, average = PoolKind::kAverage;
  const Dims one = {1, 1}, none = {0, 0};
  static const std::vector<Case> kCases = {
      {"Max", {1, 16, 9, 9}, {max, {3, 3}, {2, 2}, one, none, none, none, false}},
      {"MaxPadded", {1, 10, 9, 8}, {max, {3, 3}, {2, 2}, one, one, one, none, false}},
      {"MaxCeil", {1, 16, 8, 8}, {max, {3, 3}, {2, 2}, one, none, {1, 1}, {1, 1}, false}},
      {"MaxDilated", {1, 16, 9, 9}, {max, {2, 2}, {1, 1}, {2, 2}, none, none, none, false}},
      {"MaxLine", {1, 16, 20}, {max, {4}, {2}, {1}, {0}, {0}, {0}, false}},
      {"MaxVolume",
       {1, 16, 4, 6, 6},
       {max, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, false}},
      {"Average", {1, 16, 8, 8}, {average, {2, 2}, {2, 2}, one, none, none, none, false}},
      {"AverageRealSize", {1, 10, 8, 8}, {average, {3, 3}, {1, 1}, one, one, one, none, false}},
      {"AverageFullSize", {1, 16, 8, 8}, {average, {3, 3}, {1, 1}, one, one, one, none, true}},
      {"AverageCeil", {1, 16, 8, 8}, {average, {3, 3}, {2, 2}, one, none, one, one, false}},
      {"AverageFullSizeCeil",
       {1, 10, 8, 8},
       {average, {3, 3}, {2, 2}, one, one, {2, 2}, {1, 1}, true}},
  };
  return kCases;
}

class PoolCase : public ::testing::TestWithParam<std::tuple<size_t, Precision>> {};

TEST_P(PoolCase, IsTheWindowsMaximumOrMean) {
  const Case& test = cases()[std::get<0>(GetParam())];
  const Precision precision = std::get<1>(GetParam());
  const Tensor x = Tensor::numbers(test.x, 1);
  ModelBuilder builder(precision);
  const ValueId y = builder.node(test.op, {builder.input(test.x)});
  builder.output(y);
  const auto model = builder.build();
  expect_close(run_model(model, {x}), reference_pool(test.op, x, model->graph.values[y].shape),
               tolerance_of(precision));
}

INSTANTIATE_TEST_SUITE_P(All, PoolCase,
                         ::testing::Combine(::testing::Range(size_t{0}, cases().size()),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return std::string(cases()[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

// Numbers of INT8 or UINT8 from `lowest` on, with both ends of the range among the first 256.
Tensor bytes(const Dims& dims, float lowest) {
  Tensor x = Tensor::zeros(dims);
  for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = lowest + static_cast<float>(i * 37 % 256);
  return x;
}

// The pool follows a BF16 convolution, whose results have channels innermost if there are tiles.
TEST(Pool, TakesTheMaximumOfChannelsThatLieInnermost) {
  for (const Case& test : cases()) {
    if (test.op.kind != PoolKind::kMax || test.x.size() != 4) continue;
    for (const int64_t channels : {16, 24, 64}) {
      SCOPED_TRACE(test.name + std::to_string(channels));
      const Dims dims = {2, channels, test.x[2], test.x[3]};
      Tensor weight = Tensor::zeros({channels, channels, 1, 1});
      for (int64_t i = 0; i < channels; ++i) weight.at({i, channels - 1 - i, 0, 0}) = -1;
      ModelBuilder builder(Precision::kBf16);
      const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
      const ValueId reversed = builder.node(conv, {builder.input(dims), builder.constant(weight)});
      const ValueId y = builder.node(test.op, {reversed});
      builder.output(reversed);
      builder.output(y);
      const auto model = builder.build();
      const auto program = load(model);
      const std::vector<Tensor> results = run(*program, {Tensor::numbers(dims, 1)});
      EXPECT_EQ(results[1].data,
                reference_pool(test.op, results[0], model->graph.values[y].shape).data);
    }
  }
}

TEST(Pool, TakesTheMaximumOfBytes) {
  for (const auto& [type, lowest] :
       {std::pair(tensor::DataType::kInt8, -128.0f), std::pair(tensor::DataType::kUint8, 0.0f)})
    for (const Case& test : cases()) {
      if (test.op.kind != PoolKind::kMax) continue;
      SCOPED_TRACE(test.name);
      const Tensor x = bytes(test.x, lowest);
      ModelBuilder builder;
      const ValueId y = builder.node(test.op, {builder.input(test.x, type)});
      builder.output(y);
      const auto model = builder.build();
      expect_close(run_model(model, {x}), reference_pool(test.op, x, model->graph.values[y].shape),
                   0);
    }
}

// Any window that the shape function accepts, among them those that oneDNN refuses.
TEST(Pool, TakesEveryWindow) {
  std::mt19937 random(1);
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int accepted = 0, refused_by_library = 0;
  while (accepted < 150) {
    const auto rank = static_cast<size_t>(number(1, 3));
    Pool op{number(0, 1) != 0 ? PoolKind::kMax : PoolKind::kAverage, {}, {}, {}, {}, {}, {}, false};
    op.count_include_pad = op.kind == PoolKind::kAverage && number(0, 1) != 0;
    Dims dims = {1, number(1, 20)};
    for (size_t d = 0; d < rank; ++d) {
      dims.push_back(number(1, 8));
      op.kernel.push_back(number(1, 4));
      op.strides.push_back(number(1, 3));
      op.dilations.push_back(number(1, 5));
      op.pads_begin.push_back(number(0, 4));
      op.pads_end.push_back(number(0, 4));
      op.ceil_excess.push_back(number(0, op.pads_end.back()));
    }
    const graph::Value value{"x", tensor::DataType::kFloat32, dims, {}};
    const std::array<const graph::Value*, 1> operands = {&value};
    const auto type = graph::infer_output(op, operands);
    if (!type.ok()) continue;
    ++accepted;
    SCOPED_TRACE(::testing::Message() << "window " << accepted);
    ModelBuilder builder;
    builder.output(builder.node(op, {builder.input(dims)}));
    const Tensor x = Tensor::numbers(dims, 1);
    const auto program = load(builder.build());
    expect_close(run(*program, {x}).at(0), reference_pool(op, x, type->shape), 1e-5);
    refused_by_library += implementations(*program).back() == "Pool millrace:pool" ? 1 : 0;
  }
  EXPECT_GT(refused_by_library, 0);
}

TEST(GlobalPool, LeavesOneElementPerChannel) {
  for (Precision precision : {Precision::kFp32, Precision::kBf16})
    for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage})
      for (const Dims& dims : {Dims{1, 16, 7, 7}, Dims{2, 10, 5, 3}, Dims{1, 3, 9}}) {
        const Tensor x = Tensor::numbers(dims, 1);
        const Dims spatial(dims.begin() + 2, dims.end()), ones(spatial.size(), 1),
            zeros(spatial.size(), 0);
        Dims result = dims;
        for (size_t i = 2; i < result.size(); ++i) result[i] = 1;
        ModelBuilder builder(precision);
        builder.output(builder.node(graph::GlobalPool{kind}, {builder.input(dims)}));
        const Pool whole{kind, spatial, ones, ones, zeros, zeros, zeros, false};
        expect_close(run_model(builder.build(), {x}), reference_pool(whole, x, result),
                     tolerance_of(precision));
      }
}

}  // namespace
}  // namespace millrace::device::cpu
