// MatMul against its definition.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::MatMul;
using graph::Precision;
using graph::ValueId;

struct Case {
  const char* name;
  Dims a, b;
  MatMul op;
  bool constant = true;  // whether b is
  Dims bias = {};        // empty for none
};

const std::vector<Case>& cases() {
  using graph::Activation;
  using graph::UnaryKind;
  const Activation relu{UnaryKind::kRelu, 0, 0}, floor{UnaryKind::kFloor, 0, 0};
  static const std::vector<Case> kCases = {
      {"Layer", {1, 40}, {40, 30}, {false, false, 1, {}}, true, {30}},
      {"LayerTransposed", {3, 40}, {30, 40}, {false, true, 1, relu}, true, {1, 30}},
      {"LayerOfManyRows", {2, 5, 24}, {24, 48}, {false, false, 1, {}}, true, {48}},
      {"LayerWithAlpha", {4, 24}, {24, 17}, {false, false, 0.5f, relu}, true, {17}},
      {"LayerWithScalarBias", {4, 24}, {24, 17}, {false, false, 1, relu}, true, {1}},
      {"LayerWithFullBias", {4, 24}, {24, 17}, {false, false, 1, {}}, true, {4, 17}},
      {"LayerWithUnusualActivation", {4, 24}, {24, 17}, {false, false, 1, floor}, true, {17}},
      {"LayerOfAVector", {24}, {24, 17}, {false, false, 1, {}}, true, {}},
      // One row of weights that do not fit into the L1 cache: loops of the device's own.
      {"LargeRow", {1, 301}, {301, 200}, {false, false, 1, {}}, true, {200}},
      {"LargeRowWithActivation", {1, 1, 256}, {200, 256}, {false, true, 1, relu}, true, {1, 200}},
      {"LargeRowWithUnusualActivation",
       {1, 256},
       {256, 640},
       {false, false, 1, floor},
       true,
       {640}},
      {"LargeRowWithoutBias", {300}, {300, 576}, {false, false, 1, {}}, true, {}},
      {"LargeRowWithAlpha", {1, 256}, {256, 320}, {false, false, 0.5f, relu}, true, {320}},
      {"TransposedInput", {24, 4}, {24, 17}, {true, false, 1, {}}, true, {17}},
      {"Product", {4, 24}, {24, 17}, {false, false, 1, {}}, false, {}},
      {"ProductTransposed", {24, 4}, {17, 24}, {true, true, 2, {}}, false, {17}},
      {"Batched", {2, 3, 8, 12}, {2, 3, 12, 10}, {false, false, 1, {}}, false, {}},
      {"BatchedTransposed", {2, 3, 8, 12}, {2, 3, 10, 12}, {false, true, 0.25f, {}}, false, {}},
      {"BatchedBroadcast", {2, 1, 8, 12}, {3, 12, 10}, {false, false, 1, {}}, false, {10}},
      {"BatchedConstant", {2, 8, 12}, {2, 12, 10}, {false, false, 1, relu}, true, {}},
      {"VectorByMatrix", {12}, {2, 12, 10}, {false, false, 1, {}}, false, {}},
      {"MatrixByVector", {2, 8, 12}, {12}, {false, false, 1, {}}, false, {}},
  };
  return kCases;
}

Tensor transposed(const Tensor& x) {
  Tensor y = x;
  std::swap(y.dims[y.dims.size() - 1], y.dims[y.dims.size() - 2]);
  for_each_index(y.dims, [&](const Dims& at) {
    Dims from = at;
    std::swap(from[from.size() - 1], from[from.size() - 2]);
    y.at(at) = x.at(from);
  });
  return y;
}

Tensor reference_matmul(const Case& test, Tensor a, Tensor b, const Tensor& bias,
                        const Dims& result) {
  if (test.op.transpose_a) a = transposed(a);
  if (test.op.transpose_b) b = transposed(b);
  // A vector is a row on the left and a column on the right; the result does not have that
  // dimension.
  Dims full = result;
  if (a.dims.size() == 1) {
    a.dims.insert(a.dims.begin(), 1);
    full.insert(full.end() - 1, 1);
  }
  if (b.dims.size() == 1) {
    b.dims.push_back(1);
    full.push_back(1);
  }
  Tensor y = Tensor::zeros(full);
  for_each_index(full, [&](const Dims& at) {
    double sum = 0;
    for (int64_t k = 0; k < a.dims.back(); ++k) {
      Dims left = at, right = at;
      left.back() = k;
      right[right.size() - 2] = k;
      sum += static_cast<double>(broadcast_at(a, left)) * broadcast_at(b, right);
    }
    y.at(at) = static_cast<float>(sum) * test.op.alpha;
  });
  y.dims = result;
  for_each_index(result, [&](const Dims& at) {
    if (!bias.data.empty()) y.at(at) += broadcast_at(bias, at);
    y.at(at) = reference_unary(test.op.activation, y.at(at));
  });
  return y;
}

class MatMulCase : public ::testing::TestWithParam<std::tuple<size_t, Precision>> {};

TEST_P(MatMulCase, IsRowsTimesColumns) {
  const Case& test = cases()[std::get<0>(GetParam())];
  const Precision precision = std::get<1>(GetParam());
  const Tensor a = Tensor::numbers(test.a, 1), b = Tensor::numbers(test.b, 2);
  const Tensor bias = test.bias.empty() ? Tensor{} : Tensor::numbers(test.bias, 3);
  // The result may be next to where the function jumps.
  if (test.op.activation.kind == graph::UnaryKind::kFloor && precision == Precision::kBf16)
    GTEST_SKIP() << "a rounding error decides which side of a step the result is on";
  ModelBuilder builder(precision);
  std::vector<ValueId> operands = {builder.input(test.a)};
  std::vector<Tensor> inputs = {a};
  operands.push_back(test.constant ? builder.constant(b) : builder.input(test.b));
  if (!test.constant) inputs.push_back(b);
  if (!test.bias.empty()) operands.push_back(builder.constant(bias));
  const ValueId y = builder.node(test.op, operands);
  builder.output(y);
  const auto model = builder.build();
  const auto program = load(model);
  for (const std::string& name : implementations(*program))
    EXPECT_EQ(name.find("ref"), std::string::npos) << name;
  expect_close(run(*program, inputs).at(0),
               reference_matmul(test, a, b, bias, model->graph.values[y].shape),
               tolerance_of(precision));
}

INSTANTIATE_TEST_SUITE_P(All, MatMulCase,
                         ::testing::Combine(::testing::Range(size_t{0}, cases().size()),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return std::string(cases()[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

// Attention: both operands are views of one layer's result that only look transposed.
TEST(MatMul, OfPermutedOperands) {
  const Tensor x = Tensor::numbers({1, 6, 32}, 1);
  ModelBuilder builder;
  const ValueId split = builder.node(graph::Reshape{{1, 6, 4, 8}}, {builder.input(x.dims)});
  const ValueId heads = builder.node(graph::Transpose{{0, 2, 1, 3}}, {split});
  builder.output(builder.node(MatMul{false, true, 1, {}}, {heads, heads}));
  Tensor expected = Tensor::zeros({1, 4, 6, 6});
  for_each_index(expected.dims, [&](const Dims& at) {
    for (int64_t k = 0; k < 8; ++k)
      expected.at(at) += x.at({0, at[2], at[1] * 8 + k}) * x.at({0, at[3], at[1] * 8 + k});
  });
  expect_close(run_model(builder.build(), {x}), expected, 1e-5);
}

}  // namespace
}  // namespace millrace::device::cpu
