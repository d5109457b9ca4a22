// Pooling against its definition.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
