// Operators on constants, where the importer's own tests do not reach: element types and
// arithmetic.
#include "lowering/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::ReduceKind;
using graph::UnaryKind;
using graph::Value;
using tensor::DataType;

template <class T>
constexpr DataType kType = DataType::kUnknown;
template <>
constexpr DataType kType<float> = DataType::kFloat32;
template <>
constexpr DataType kType<int64_t> = DataType::kInt64;
template <>
constexpr DataType kType<int32_t> = DataType::kInt32;
template <>
constexpr DataType kType<uint8_t> = DataType::kUint8;

template <class T>
Value value(Dims shape, const std::vector<T>& elements) {
  return {"v", kType<T>, std::move(shape), graph::Constant::of(elements)};
}

Result<Value> run(const graph::Operator& op, const std::vector<Value>& operands) {
  std::vector<const Value*> pointers;
  for (const Value& operand : operands) pointers.push_back(&operand);
  return evaluate(op, pointers);
}

template <class T>
std::vector<T> elements(const graph::Operator& op, const std::vector<Value>& operands) {
  const Result<Value> result = run(op, operands);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  if (!result.ok()) return {};
  EXPECT_EQ(result->constant->bytes.size(), result->bytes());
  const auto out = result->constant->as<T>();
  return {out.begin(), out.end()};
}

template <class T>
std::vector<T> binary(BinaryKind kind, std::vector<T> a, std::vector<T> b) {
  const Dims shape_a = {static_cast<int64_t>(a.size())};
  const Dims shape_b = {static_cast<int64_t>(b.size())};
  return elements<T>(graph::Binary{kind}, {value(shape_a, a), value(shape_b, b)});
}

TEST(Evaluate, IntegersAreExact) {
  const int64_t large = (int64_t{1} << 53) + 1;
  EXPECT_EQ(binary<int64_t>(BinaryKind::kAdd, {large, 1}, {1}),
            (std::vector<int64_t>{large + 1, 2}));
  EXPECT_EQ(binary<int64_t>(BinaryKind::kDiv, {-7, 7}, {2}), (std::vector<int64_t>{-3, 3}));
  EXPECT_EQ(binary<int32_t>(BinaryKind::kPow, {2, -3}, {3}), (std::vector<int32_t>{8, -27}));
  EXPECT_EQ(binary<int32_t>(BinaryKind::kPow, {-1, -1, 1, 0, 2, -2}, {-1, -2, -3, -1, -1, -2}),
            (std::vector<int32_t>{-1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(binary<int64_t>(BinaryKind::kMax, {large}, {large - 1}), (std::vector<int64_t>{large}));
}

TEST(Evaluate, IntegersWrapAround) {
  const int64_t smallest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(binary<int64_t>(BinaryKind::kSub, {smallest}, {1}),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::max()}));
  EXPECT_EQ(binary<int64_t>(BinaryKind::kDiv, {smallest}, {-1}), (std::vector<int64_t>{smallest}));
  EXPECT_EQ(binary<uint8_t>(BinaryKind::kAdd, {255}, {2}), (std::vector<uint8_t>{1}));
}

TEST(Evaluate, DivisionOfIntegersByZeroIsAnError) {
  const auto result =
      run(graph::Binary{BinaryKind::kDiv}, {value<int64_t>({1}, {1}), value<int64_t>({1}, {0})});
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
}

TEST(Evaluate, BinaryBroadcastsBothOperands) {
  EXPECT_EQ(elements<float>(graph::Binary{BinaryKind::kSub},
                            {value<float>({2, 1}, {10, 20}), value<float>({1, 2}, {1, 2})}),
            (std::vector<float>{9, 8, 19, 18}));
  EXPECT_EQ(binary<float>(BinaryKind::kPrelu, {-2, 2}, {0.5f}), (std::vector<float>{-1, 2}));
}

TEST(Evaluate, MinAndMaxKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const BinaryKind kind : {BinaryKind::kMin, BinaryKind::kMax}) {
    EXPECT_TRUE(std::isnan(binary<float>(kind, {nan}, {1})[0]));
    EXPECT_TRUE(std::isnan(binary<float>(kind, {1}, {nan})[0]));
  }
}

struct UnaryCase {
  graph::Activation function;
  float at_minus_one, at_two;
};

TEST(Evaluate, UnaryFunctions) {
  const UnaryCase cases[] = {
      {{UnaryKind::kIdentity}, -1, 2},
      {{UnaryKind::kRelu}, 0, 2},
      {{UnaryKind::kClip, -0.5f, 1.5f}, -0.5f, 1.5f},
      {{UnaryKind::kLeakyRelu, 0.25f}, -0.25f, 2},
      {{UnaryKind::kElu, 2}, -1.2642411f, 2},
      {{UnaryKind::kSigmoid}, 0.26894143f, 0.88079703f},
      {{UnaryKind::kTanh}, -0.76159418f, 0.96402758f},
      {{UnaryKind::kHardSigmoid, 0.2f, 0.5f}, 0.3f, 0.9f},
      {{UnaryKind::kHardSwish}, -1.0f / 3, 5.0f / 3},
      {{UnaryKind::kSwish}, -0.26894143f, 1.7615942f},
      {{UnaryKind::kGelu}, -0.15865526f, 1.9544997f},
      {{UnaryKind::kExp}, 0.36787945f, 7.389056f},
      {{UnaryKind::kAbs}, 1, 2},
      {{UnaryKind::kNeg}, 1, -2},
      {{UnaryKind::kErf}, -0.84270078f, 0.99532229f},
      {{UnaryKind::kReciprocal}, -1, 0.5f},
      {{UnaryKind::kSoftplus}, 0.31326166f, 2.126928f},
      {{UnaryKind::kPow, 3}, -1, 8},
      {{UnaryKind::kLinear, 3, 1}, -2, 7},
  };
  for (const UnaryCase& test : cases) {
    const auto y = elements<float>(graph::Unary{test.function}, {value<float>({2}, {-1, 2})});
    EXPECT_NEAR(y[0], test.at_minus_one, 1e-6) << graph::name_of(test.function.kind);
    EXPECT_NEAR(y[1], test.at_two, 1e-5) << graph::name_of(test.function.kind);
  }
}

TEST(Evaluate, RoundingFunctions) {
  const Value x = value<float>({4}, {-1.5f, 0.5f, 1.2f, 2.5f});
  const auto rounded = [&](UnaryKind kind) { return elements<float>(graph::Unary{{kind}}, {x}); };
  EXPECT_EQ(rounded(UnaryKind::kRound), (std::vector<float>{-2, 0, 1, 2}));
  EXPECT_EQ(rounded(UnaryKind::kFloor), (std::vector<float>{-2, 0, 1, 2}));
  EXPECT_EQ(rounded(UnaryKind::kCeil), (std::vector<float>{-1, 1, 2, 3}));
}

TEST(Evaluate, IntegersHaveFewUnaryFunctions) {
  const Value x = value<int64_t>({2}, {-3, 3});
  EXPECT_EQ(elements<int64_t>(graph::Unary{{UnaryKind::kAbs}}, {x}), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(run(graph::Unary{{UnaryKind::kExp}}, {x}).status().code(), StatusCode::kUnsupported);
}

TEST(Evaluate, Reductions) {
  const Value x = value<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto reduced = [&](ReduceKind kind, Dims axes) {
    return elements<float>(graph::Reduce{kind, std::move(axes), false}, {x});
  };
  EXPECT_EQ(reduced(ReduceKind::kSum, {0}), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(reduced(ReduceKind::kMean, {1}), (std::vector<float>{2, 5}));
  EXPECT_EQ(reduced(ReduceKind::kMax, {0, 1}), (std::vector<float>{6}));
  EXPECT_EQ(reduced(ReduceKind::kMin, {1}), (std::vector<float>{1, 4}));
  EXPECT_EQ(reduced(ReduceKind::kProd, {1}), (std::vector<float>{6, 120}));
  EXPECT_EQ(elements<int64_t>(graph::Reduce{ReduceKind::kProd, {0}, true},
                              {value<int64_t>({3}, {2, 3, 4})}),
            (std::vector<int64_t>{24}));
}

TEST(Evaluate, MatrixProducts) {
  const Value a = value<float>({2, 2}, {1, 2, 3, 4});
  const Value b = value<float>({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(elements<float>(graph::MatMul{}, {a, b}), (std::vector<float>{19, 22, 43, 50}));
  EXPECT_EQ(elements<float>(graph::MatMul{true, true, 1, {}}, {a, b}),
            (std::vector<float>{23, 31, 34, 46}));
  EXPECT_EQ(elements<float>(graph::MatMul{false, false, 0.5f, {UnaryKind::kClip, 0, 12}},
                            {a, b, value<float>({2}, {1, -20})}),
            (std::vector<float>{10.5f, 0, 12, 5}));
  EXPECT_EQ(elements<float>(graph::MatMul{}, {value<float>({2}, {1, 1}), b}),
            (std::vector<float>{12, 14}));
  EXPECT_EQ(elements<float>(graph::MatMul{}, {a, value<float>({2}, {1, 1})}),
            (std::vector<float>{3, 7}));
}

TEST(Evaluate, MatrixProductsOfBatchesBroadcast) {
  const Value a = value<float>({2, 1, 2}, {1, 2, 3, 4});
  const Value b = value<float>({1, 2, 1}, {1, 10});
  EXPECT_EQ(elements<float>(graph::MatMul{}, {a, b}), (std::vector<float>{21, 43}));
}

TEST(Evaluate, CastsSaturate) {
  const Value x = value<float>({4}, {-1.7f, 300, 1e30f, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(elements<uint8_t>(graph::Cast{DataType::kUint8}, {x}),
            (std::vector<uint8_t>{0, 255, 255, 0}));
  EXPECT_EQ(elements<int64_t>(graph::Cast{DataType::kInt64}, {x}),
            (std::vector<int64_t>{-1, 300, std::numeric_limits<int64_t>::max(), 0}));
  EXPECT_EQ(elements<uint8_t>(graph::Cast{DataType::kBoolean}, {value<float>({2}, {0, 0.5f})}),
            (std::vector<uint8_t>{0, 1}));
}

TEST(Evaluate, CastsOfHalfPrecision) {
  const Value x = value<float>({2}, {1, -2});
  EXPECT_EQ(elements<uint16_t>(graph::Cast{DataType::kBf16}, {x}),
            (std::vector<uint16_t>{0x3f80, 0xc000}));
  const Value half{
      "h", DataType::kFp16, {2}, graph::Constant::of(std::vector<uint16_t>{0x3c00, 0xc000})};
  EXPECT_EQ(elements<float>(graph::Cast{DataType::kFloat32}, {half}), (std::vector<float>{1, -2}));
  // Data movement does not look at elements.
  EXPECT_EQ(elements<uint16_t>(graph::Slice{{1}, {1}, {1}}, {half}),
            (std::vector<uint16_t>{0xc000}));
}

TEST(Evaluate, WhatItDoesNotOffer) {
  const Value image = value<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(graph::GlobalPool{}, {image}).status().code(), StatusCode::kUnsupported);
  const Value matrix = value<float>({2, 2}, {1, 2, 3, 4});
  const Value bf16{
      "b", DataType::kBf16, {2, 2}, graph::Constant::of(std::vector<uint16_t>(4, 0x3f80))};
  EXPECT_EQ(run(graph::MatMul{}, {matrix, bf16}).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(run(graph::MatMul{}, {matrix, matrix, bf16}).status().code(), StatusCode::kUnsupported);
  const Value open{"x", DataType::kFloat32, {1}, std::nullopt};
  EXPECT_EQ(run(graph::Unary{}, {open}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Evaluate, ProductsTooLargeForCompileTimeStay) {
  const Value column = value<float>({1 << 12, 1}, std::vector<float>(1 << 12));
  const Value row = value<float>({1, 1 << 12}, std::vector<float>(1 << 12));
  const auto large = run(graph::Expand{{1 << 12, 1 << 8}}, {column});
  ASSERT_TRUE(large.ok());
  const auto wide = run(graph::Expand{{1 << 8, 1 << 12}}, {row});
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(run(graph::MatMul{}, {*large, *wide}).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::lowering
