// Unary and Binary against their definitions, in every layout a value can have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::Dims;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;

// Whether the value comes from the caller or from a convolution, in channel blocks with padding.
enum class Origin { kPlain, kBlocked };

// Adds an input of `dims`; for kBlocked through a convolution that changes nothing.
ValueId add_value(ModelBuilder& builder, const Dims& dims, Origin origin) {
  const ValueId x = builder.input(dims);
  if (origin == Origin::kPlain) return x;
  Tensor identity = Tensor::zeros({dims[1], dims[1], 1, 1});
  for (int64_t c = 0; c < dims[1]; ++c) identity.at({c, c, 0, 0}) = 1;
  return builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                      {x, builder.constant(identity)});
}

using Parameters = std::tuple<Origin, Precision>;
std::string name_of_parameters(const ::testing::TestParamInfo<Parameters>& info) {
  return std::string(std::get<0>(info.param) == Origin::kPlain ? "Plain" : "Blocked") +
         (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
}

class Elementwise : public ::testing::TestWithParam<Parameters> {
 protected:
  Origin origin() { return std::get<0>(GetParam()); }
  Precision precision() { return std::get<1>(GetParam()); }
};

TEST_P(Elementwise, EveryUnaryFunction) {
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind) {
    const Activation function{static_cast<UnaryKind>(kind), 0.25f, 0.5f};
    SCOPED_TRACE(name_of(function.kind));
    Tensor x = Tensor::numbers({1, 21, 5, 7}, 1);
    const bool needs_positive =
        function.kind == UnaryKind::kLog || function.kind == UnaryKind::kSqrt ||
        function.kind == UnaryKind::kReciprocal || function.kind == UnaryKind::kPow;
    for (float& value : x.data) value = needs_positive ? std::fabs(value) + 0.5f : value * 4;
    ModelBuilder builder(precision());
    builder.output(builder.node(graph::Unary{function}, {add_value(builder, x.dims, origin())}));
    expect_close(run_model(builder.build(), {x}),
                 map(x, [&](float v) { return reference_unary(function, v); }),
                 tolerance_of(precision()));
  }
}

TEST_P(Elementwise, EveryBinaryFunctionWithEveryBroadcast) {
  const Dims full = {1, 21, 4, 6};
  const std::vector<std::pair<Dims, Dims>> shapes = {
      {full, full},         {full, {1, 21, 1, 1}}, {full, {21, 1, 1}},   {full, {1}},
      {full, {1, 1, 4, 6}}, {full, {6}},           {full, {1, 21, 4, 1}}};
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind)
    for (const auto& [a_dims, b_dims] : shapes)
      for (bool swapped : {false, true}) {
        const graph::Binary op{static_cast<BinaryKind>(kind)};
        // The slope of a PRelu broadcasts to x, not the other way round.
        if (swapped && op.kind == BinaryKind::kPrelu) continue;
        SCOPED_TRACE(std::string(name_of(op.kind)) + " with " + ::testing::PrintToString(b_dims) +
                     (swapped ? " first" : ""));
        Tensor a = Tensor::numbers(a_dims, 1), b = Tensor::numbers(b_dims, 2);
        // Positive, and away from zero, for division and powers.
        if (op.kind != BinaryKind::kPrelu)
          for (float& value : a.data) value = std::fabs(value) + 0.5f;
        for (float& value : b.data) value = std::fabs(value) + 0.5f;
        ModelBuilder builder(precision());
        const ValueId x = add_value(builder, a_dims, origin()), y = builder.input(b_dims);
        builder.output(builder.node(op, swapped ? std::vector{y, x} : std::vector{x, y}));
        expect_close(run_model(builder.build(), {a, b}),
                     swapped ? reference_binary(op.kind, b, a, a_dims)
                             : reference_binary(op.kind, a, b, a_dims),
                     tolerance_of(precision()));
      }
}

TEST_P(Elementwise, BinaryWithAConstant) {
  const Tensor a = Tensor::numbers({1, 21, 4, 6}, 1);
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind)
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{21, 1, 1}, Dims{1, 21, 4, 6}}) {
      const graph::Binary op{static_cast<BinaryKind>(kind)};
      SCOPED_TRACE(std::string(name_of(op.kind)) + " with " + ::testing::PrintToString(dims));
      Tensor b = Tensor::numbers(dims, 2), x = a;
      for (float& value : b.data) value = std::fabs(value) + 0.5f;
      if (op.kind == BinaryKind::kPow)
        for (float& value : x.data) value = std::fabs(value) + 0.5f;
      ModelBuilder builder(precision());
      builder.output(builder.node(op, {add_value(builder, x.dims, origin()), builder.constant(b)}));
      expect_close(run_model(builder.build(), {x}), reference_binary(op.kind, x, b, x.dims),
                   tolerance_of(precision()));
    }
}

// A convolution after an elementwise step depends on the padding of its input being zero.
TEST_P(Elementwise, LeavesNothingInThePaddingOfBlocks) {
  const Tensor x = Tensor::numbers({1, 21, 5, 5}, 1);
  Tensor weight = Tensor::zeros({4, 21, 1, 1});
  for (float& value : weight.data) value = 1;
  ModelBuilder builder(precision());
  const ValueId value = add_value(builder, x.dims, origin());
  const ValueId e = builder.node(graph::Unary{{UnaryKind::kExp, 0, 0}}, {value});
  const ValueId sum =
      builder.node(graph::Binary{BinaryKind::kAdd}, {e, builder.constant(Tensor{{1}, {2}})});
  builder.output(builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                              {sum, builder.constant(weight)}));
  Tensor expected = Tensor::zeros({1, 4, 5, 5});
  for_each_index(expected.dims, [&](const Dims& at) {
    for (int64_t c = 0; c < 21; ++c) expected.at(at) += std::exp(x.at({0, c, at[2], at[3]})) + 2;
  });
  expect_close(run_model(builder.build(), {x}), expected, tolerance_of(precision()));
}

INSTANTIATE_TEST_SUITE_P(All, Elementwise,
                         ::testing::Combine(::testing::Values(Origin::kPlain, Origin::kBlocked),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         name_of_parameters);

TEST(Unary, TheLogarithmOfOneIsZero) {
  ModelBuilder builder;
  builder.output(builder.node(graph::Unary{{UnaryKind::kLog, 0, 0}}, {builder.input({2})}));
  const Tensor result = run_model(builder.build(), {Tensor{{2}, {1, 10}}});
  EXPECT_EQ(result.data[0], 0);
  EXPECT_FLOAT_EQ(result.data[1], std::log(10.0f));
}

// Mish is x tanh(softplus(x)), so what is lost for a negative x is lost there, too.
TEST(Unary, SoftplusIsAccurateForNegativeNumbers) {
  Tensor x{{0}, {}};
  for (float number = -80; number < 80; number += 0.37F) x.data.push_back(number);
  x.dims[0] = static_cast<int64_t>(x.data.size());
  ModelBuilder builder;
  builder.output(builder.node(graph::Unary{{UnaryKind::kSoftplus, 0, 0}}, {builder.input(x.dims)}));
  const Tensor y = run_model(builder.build(), {x});
  for (size_t i = 0; i < x.data.size(); ++i) {
    const double number = x.data[i];
    const double expected = std::max(number, 0.0) + std::log1p(std::exp(-std::fabs(number)));
    EXPECT_NEAR(y.data[i], expected, 1e-6 * expected) << number;
  }
}

TEST(Binary, BroadcastsBothOperands) {
  const Tensor a = Tensor::numbers({3, 1, 5}, 1), b = Tensor::numbers({4, 1}, 2);
  ModelBuilder builder;
  builder.output(builder.node(graph::Binary{BinaryKind::kSub},
                              {builder.input(a.dims), builder.input(b.dims)}));
  expect_close(run_model(builder.build(), {a, b}),
               reference_binary(BinaryKind::kSub, a, b, {3, 4, 5}), 1e-6);
}

Tensor transposed(const Tensor& x, const Dims& permutation) {
  Dims dims;
  for (const int64_t from : permutation) dims.push_back(x.dims[static_cast<size_t>(from)]);
  Tensor y = Tensor::zeros(dims);
  for_each_index(dims, [&](const Dims& at) {
    Dims from(at.size());
    for (size_t i = 0; i < at.size(); ++i) from[static_cast<size_t>(permutation[i])] = at[i];
    y.at(at) = x.at(from);
  });
  return y;
}

// A Transpose is a view of its operand, so the elements may lie in any order, and dimensions of
// size 1 may have any stride.
TEST(Binary, BroadcastsToATransposedOperand) {
  for (const Dims& dims : {Dims{2, 5, 3, 4}, Dims{1, 24, 1, 2}, Dims{6, 1, 1, 3}}) {
    const Tensor x = Tensor::numbers(dims, 1);
    Dims permutation = {0, 1, 2, 3};
    do {
      const Tensor a = transposed(x, permutation);
      for (const BinaryKind kind : {BinaryKind::kSub, BinaryKind::kPrelu})
        for (const Dims& b_dims : {Dims{}, Dims{a.dims[1], 1, 1}, Dims{a.dims[3]}}) {
          SCOPED_TRACE(std::string(name_of(kind)) + " of " + ::testing::PrintToString(a.dims) +
                       " and " + ::testing::PrintToString(b_dims));
          const Tensor b = Tensor::numbers(b_dims, 2);
          ModelBuilder builder;
          const ValueId same =
              builder.node(graph::Unary{{UnaryKind::kLinear, 1, 0}}, {builder.input(x.dims)});
          const ValueId view = builder.node(graph::Transpose{permutation}, {same});
          builder.output(builder.node(graph::Binary{kind}, {view, builder.constant(b)}));
          expect_close(run_model(builder.build(), {x}), reference_binary(kind, a, b, a.dims), 1e-6);
        }
    } while (std::ranges::next_permutation(permutation).found);
  }
}

TEST(Binary, OfAValueWithItself) {
  const Tensor x = Tensor::numbers({1, 16, 4, 4}, 1);
  ModelBuilder builder;
  const ValueId abs = builder.node(graph::Unary{{UnaryKind::kAbs, 0, 0}}, {builder.input(x.dims)});
  builder.output(builder.node(graph::Binary{BinaryKind::kAdd}, {abs, abs}));
  expect_close(run_model(builder.build(), {x}), map(x, [](float v) { return 2 * std::fabs(v); }),
               1e-6);
}

TEST(Unary, OfIntegersIsRefused) {
  ModelBuilder builder;
  builder.output(builder.node(graph::Unary{{UnaryKind::kAbs, 0, 0}},
                              {builder.input({4}, tensor::DataType::kInt32)}));
  const auto program = cpu_device().load(builder.build());
  EXPECT_EQ(program.status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::device::cpu
