// Operators on quantised values in unusual forms give what the graph means: the operands are
// dequantised, the operator computes in FP32, and its result is quantised.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::kNoValue;
using graph::Quantisation;
using graph::Requantise;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;

// The storage form of quantised values.
struct Form {
  const char* name;
  DataType type;
  std::vector<int32_t> zero_points;  // one, or some to repeat along the axis
  uint32_t axis = 0;
  float scale = 1 / 64.0f;

  Quantisation quantisation(const Dims& dims) const {
    if (zero_points.size() == 1 || axis >= dims.size()) return {{scale}, {zero_points[0]}, 0};
    Quantisation quantisation{{}, {}, axis};
    for (size_t i = 0; i < static_cast<size_t>(dims[axis]); ++i) {
      quantisation.scales.push_back(scale * static_cast<float>(i % 3 + 1));
      quantisation.zero_points.push_back(zero_points[i % zero_points.size()]);
    }
    return quantisation;
  }
  float largest_step() const { return zero_points.size() == 1 ? scale : 3 * scale; }
};

const Form kForms[] = {
    {"u8_least", DataType::kUint8, {0}},
    {"u8_greatest", DataType::kUint8, {255}},
    {"u8_middle", DataType::kUint8, {128}},
    {"s8_least", DataType::kInt8, {-128}},
    {"s8_greatest", DataType::kInt8, {127}},
    {"s8_symmetric", DataType::kInt8, {0}},
    {"s32", DataType::kInt32, {7}, 0, 1 / 4096.0f},
    {"s8_along_0", DataType::kInt8, {0, -20}, 0},
    {"u8_along_1", DataType::kUint8, {128, 90, 140}, 1},
    {"s8_along_3", DataType::kInt8, {5, 0}, 3},
    {"s32_along_1", DataType::kInt32, {-3, 9}, 1, 1 / 4096.0f},
};

// Builds one node between quantised values, or the same node between Requantise nodes to and from
// FP32.
class Maker {
 public:
  Maker(ModelBuilder& builder, bool between_numbers, const Form& x, const Form& y)
      : builder_(builder), between_numbers_(between_numbers), x_(x), y_(y) {}

  // An operand of the node.
  ValueId operand(const Dims& dims) {
    inputs_.push_back(Tensor::numbers(dims, static_cast<uint32_t>(inputs_.size()) + 1));
    return as_operand(
        builder_.quantised(Requantise{}, {builder_.input(dims)}, x_.type, x_.quantisation(dims)));
  }
  // A constant operand of INT8 with a zero point.
  ValueId constant(const Dims& dims) {
    std::vector<int8_t> elements;
    for (const float number : Tensor::numbers(dims, 55).data)
      elements.push_back(static_cast<int8_t>(number * 60));
    return as_operand(
        builder_.quantised_constant(dims, DataType::kInt8, elements, {{1 / 128.0f}, {3}, 0}));
  }
  // An operand of numbers, beside quantised ones.
  ValueId numbers(const Dims& dims) {
    Tensor tensor = Tensor::numbers(dims, 91);
    for (float& number : tensor.data) number = 0.25f + std::fabs(number);
    return builder_.constant(tensor);
  }
  ValueId indices(const std::vector<int64_t>& list) {
    return builder_.integers({static_cast<int64_t>(list.size())}, DataType::kInt64, list);
  }

  void make(graph::Operator op, std::vector<ValueId> operands, const Dims& dims) {
    const Quantisation quantisation = y_.quantisation(dims);
    const ValueId y =
        between_numbers_
            ? builder_.quantised(Requantise{}, {builder_.node(std::move(op), std::move(operands))},
                                 y_.type, quantisation)
            : builder_.quantised(std::move(op), std::move(operands), y_.type, quantisation);
    builder_.output(builder_.node(Requantise{}, {y}));
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  ValueId as_operand(ValueId quantised) {
    return between_numbers_ ? builder_.node(Requantise{}, {quantised}) : quantised;
  }

  ModelBuilder& builder_;
  const bool between_numbers_;
  const Form &x_, &y_;
  std::vector<Tensor> inputs_;
};

const Dims kImage = {2, 4, 6, 5};

struct Case {
  const char* name;
  void (*make)(Maker& m);
};

void make_conv(Maker& m, int64_t group, bool with_residual, bool with_slope) {
  const graph::Conv conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, group, {}};
  const ValueId x = m.operand(kImage), weight = m.constant({4, 4 / group, 3, 3});
  const ValueId bias = m.constant({4});
  const ValueId residual = with_residual ? m.operand(kImage) : kNoValue;
  const ValueId slope = with_slope ? m.constant({4}) : kNoValue;
  m.make(conv, {x, weight, bias, residual, slope}, kImage);
}

void make_binary(Maker& m, BinaryKind kind, const Dims& other) {
  const ValueId x = m.operand(kImage);
  m.make(graph::Binary{kind}, {x, m.operand(other)}, kImage);
}

void make_unary(Maker& m, const graph::Activation& function) {
  m.make(graph::Unary{function}, {m.operand(kImage)}, kImage);
}

const Case kCases[] = {
    {"Conv", [](Maker& m) { make_conv(m, 1, false, false); }},
    {"ConvDepthwise", [](Maker& m) { make_conv(m, 4, false, false); }},
    {"ConvWithResidual", [](Maker& m) { make_conv(m, 1, true, false); }},
    {"ConvWithSlope", [](Maker& m) { make_conv(m, 1, true, true); }},
    {"ConvOfItself",
     [](Maker& m) {
       const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {UnaryKind::kRelu, 0, 0}};
       const ValueId x = m.operand(kImage);
       m.make(conv, {x, m.constant({4, 4, 1, 1}), kNoValue, x}, kImage);
     }},
    {"ConvOfVariableWeights",
     [](Maker& m) {
       const graph::Conv conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}};
       const ValueId x = m.operand(kImage);
       m.make(conv, {x, m.operand({4, 4, 3, 3})}, kImage);
     }},
    {"ConvOfFloatWeights",
     [](Maker& m) {
       const graph::Conv conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}};
       m.make(conv, {m.operand(kImage), m.numbers({4, 4, 3, 3})}, kImage);
     }},
    {"MaxPool",
     [](Maker& m) {
       m.make(graph::Pool{graph::PoolKind::kMax, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
              {m.operand(kImage)}, kImage);
     }},
    {"AveragePool",
     [](Maker& m) {
       m.make(
           graph::Pool{
               graph::PoolKind::kAverage, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, true},
           {m.operand(kImage)}, kImage);
     }},
    {"GlobalAverage",
     [](Maker& m) {
       m.make(graph::GlobalPool{}, {m.operand(kImage)}, {2, 4, 1, 1});
     }},
    {"GlobalMax",
     [](Maker& m) {
       m.make(graph::GlobalPool{graph::PoolKind::kMax}, {m.operand(kImage)}, {2, 4, 1, 1});
     }},
    {"MatMulLayer",
     [](Maker& m) {
       const graph::MatMul op{false, true, -0.5f, {}};
       const ValueId x = m.operand(kImage), weight = m.constant({7, 5});
       m.make(op, {x, weight, m.constant({7})}, {2, 4, 6, 7});
     }},
    {"MatMulOfTwo",
     [](Maker& m) {
       const ValueId x = m.operand(kImage), other = m.operand({4, 5, 3});
       m.make(graph::MatMul{}, {x, other}, {2, 4, 6, 3});
     }},
    {"MatMulOfVectors",
     [](Maker& m) {
       const ValueId x = m.operand({4}), other = m.operand({4});
       m.make(graph::MatMul{}, {x, other}, {});
     }},
    {"Sigmoid",
     [](Maker& m) {
       make_unary(m, {UnaryKind::kSigmoid, 0, 0});
     }},
    {"Identity", [](Maker& m) { make_unary(m, {}); }},
    {"Clip",
     [](Maker& m) {
       make_unary(m, {UnaryKind::kClip, -0.25f, 0.5f});
     }},
    {"Neg",
     [](Maker& m) {
       make_unary(m, {UnaryKind::kNeg, 0, 0});
     }},
    {"Add", [](Maker& m) { make_binary(m, BinaryKind::kAdd, kImage); }},
    {"SubOfAChannel",
     [](Maker& m) {
       make_binary(m, BinaryKind::kSub, {4, 1, 1});
     }},
    {"MulOfAColumn",
     [](Maker& m) {
       make_binary(m, BinaryKind::kMul, {6, 1});
     }},
    {"MaxOfAScalar", [](Maker& m) { make_binary(m, BinaryKind::kMax, {}); }},
    {"Prelu",
     [](Maker& m) {
       make_binary(m, BinaryKind::kPrelu, {4, 1, 1});
     }},
    {"AddOfNumbers",
     [](Maker& m) {
       const ValueId x = m.operand(kImage);
       m.make(graph::Binary{}, {m.numbers(kImage), x}, kImage);
     }},
    {"BatchNormalization",
     [](Maker& m) {
       const ValueId x = m.operand(kImage), scale = m.constant({4}), bias = m.constant({4});
       m.make(graph::BatchNormalization{}, {x, scale, bias, m.constant({4}), m.numbers({4})},
              kImage);
     }},
    {"Softmax", [](Maker& m) { m.make(graph::Softmax{3}, {m.operand(kImage)}, kImage); }},
    {"Concat",
     [](Maker& m) {
       const ValueId x = m.operand(kImage), other = m.operand({2, 3, 6, 5});
       m.make(graph::Concat{1}, {x, other, m.numbers({2, 1, 6, 5}), x}, {2, 12, 6, 5});
     }},
    {"ConcatOfConstants",
     [](Maker& m) {
       const ValueId x = m.operand(kImage);
       m.make(graph::Concat{3}, {x, m.constant({2, 4, 6, 2})}, {2, 4, 6, 7});
     }},
    {"Reshape",
     [](Maker& m) {
       m.make(graph::Reshape{{4, 2, 5, 6}}, {m.operand(kImage)}, {4, 2, 5, 6});
     }},
    {"Transpose",
     [](Maker& m) {
       m.make(graph::Transpose{{3, 1, 0, 2}}, {m.operand(kImage)}, {5, 4, 2, 6});
     }},
    {"Slice",
     [](Maker& m) {
       m.make(graph::Slice{{0, 3, 0, 1}, {2, 2, 6, 2}, {1, -2, 1, 2}}, {m.operand(kImage)},
              {2, 2, 6, 2});
     }},
    {"Gather",
     [](Maker& m) {
       const ValueId x = m.operand(kImage);
       m.make(graph::Gather{1}, {x, m.indices({3, -4, 1})}, {2, 3, 6, 5});
     }},
    {"GatherOfOne",
     [](Maker& m) {
       const ValueId x = m.operand(kImage);
       m.make(graph::Gather{1}, {x, m.indices({2})}, {2, 1, 6, 5});
     }},
    {"Pad",
     [](Maker& m) {
       const graph::Pad pad{graph::PadMode::kConstant, {0, 1, 0, -1}, {0, 0, 2, 1}, 0.3f};
       m.make(pad, {m.operand(kImage)}, {2, 5, 8, 5});
     }},
    {"ResizeNearest",
     [](Maker& m) {
       m.make(graph::Resize{.shape = {2, 4, 12, 5}, .scales = {1, 1, 2, 1}}, {m.operand(kImage)},
              {2, 4, 12, 5});
     }},
    {"ResizeLinear",
     [](Maker& m) {
       m.make(graph::Resize{.mode = graph::ResizeMode::kLinear,
                            .coordinates = graph::CoordinateMode::kHalfPixel,
                            .shape = {2, 4, 12, 10},
                            .scales = {1, 1, 2, 2}},
              {m.operand(kImage)}, {2, 4, 12, 10});
     }},
    {"Reduce",
     [](Maker& m) {
       m.make(graph::Reduce{graph::ReduceKind::kSum, {2}, true}, {m.operand(kImage)}, {2, 4, 1, 5});
     }},
    {"Expand",
     [](Maker& m) {
       m.make(graph::Expand{{2, 4, 6, 5}}, {m.operand({4, 1, 5})}, kImage);
     }},
    {"Requantise", [](Maker& m) { m.make(Requantise{}, {m.operand(kImage)}, kImage); }},
};

class QuantisedForms : public ::testing::TestWithParam<Case> {
 protected:
  static Tensor result_of(const Form& x, const Form& y, bool between_numbers) {
    ModelBuilder builder;
    Maker maker(builder, between_numbers, x, y);
    GetParam().make(maker);
    return run(*load(builder.build()), maker.inputs())[0];
  }
};

void expect_within(const Tensor& actual, const Tensor& expected, float step) {
  ASSERT_EQ(actual.data.size(), expected.data.size());
  for (size_t i = 0; i < actual.data.size(); ++i)
    ASSERT_LE(std::fabs(actual.data[i] - expected.data[i]), step * 1.001f) << "element " << i;
}

TEST_P(QuantisedForms, AreWhatTheNumbersGive) {
  for (const Form& x : kForms)
    for (const Form& y : kForms) {
      SCOPED_TRACE(std::string(x.name) + " to " + y.name);
      const Tensor expected = result_of(x, y, true);
      expect_within(result_of(x, y, false), expected, y.largest_step());
      setenv("MILLRACE_NO_VNNI", "1", 1);
      const Tensor without = result_of(x, y, false);
      unsetenv("MILLRACE_NO_VNNI");
      expect_within(without, expected, y.largest_step());
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(, QuantisedForms, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Scales whose products are no numbers that FP32 can hold well.
TEST(QuantisedExtremes, ScalesWhoseProductVanishes) {
  for (const float scale : {1e-30f, 1e30f}) {
    std::vector<Tensor> results;
    for (const bool by_numbers : {false, true}) {
      ModelBuilder b;
      const Dims dims{1, 16, 4, 4};
      const auto x =
          b.quantised(Requantise{}, {b.input(dims)}, DataType::kUint8, {{scale}, {128}, 0});
      const auto weight = b.quantised_constant<int8_t>(
          {16, 16, 1, 1}, DataType::kInt8, std::vector<int8_t>(256, 1), {{scale}, {0}, 0});
      const auto bias = b.constant(Tensor::numbers({16}, 3));
      const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
      const auto y = b.quantised(conv, {x, weight, bias}, DataType::kInt8, {{1 / 64.0f}, {0}, 0});
      const auto row =
          b.quantised(graph::Reshape{{16, 16}}, {x}, DataType::kUint8, {{scale}, {128}, 0});
      const auto layer = b.quantised_constant<int8_t>(
          {16, 16}, DataType::kInt8, std::vector<int8_t>(256, 1), {{scale}, {0}, 0});
      const auto z =
          b.quantised(graph::MatMul{}, {row, layer, bias}, DataType::kInt8, {{1 / 64.0f}, {0}, 0});
      b.output(b.node(Requantise{}, {y}));
      b.output(b.node(Requantise{}, {z}));
      if (by_numbers) setenv("MILLRACE_NO_VNNI", "1", 1);
      const auto program = load(b.build());
      unsetenv("MILLRACE_NO_VNNI");
      Tensor input = Tensor::zeros(dims);
      for (Tensor& result : run(*program, {input})) results.push_back(std::move(result));
    }
    EXPECT_EQ(results[0].data, results[2].data) << scale;
    EXPECT_EQ(results[1].data, results[3].data) << scale;
  }
}

// Sums of more products than 32 bits can count.
TEST(QuantisedExtremes, SumsBeyond32Bits) {
  constexpr int64_t kTerms = 140'000;
  ModelBuilder b;
  const auto x =
      b.quantised(Requantise{}, {b.input({1, kTerms})}, DataType::kUint8, {{1 / 255.0f}, {0}, 0});
  const auto weight = b.quantised_constant<int8_t>(
      {kTerms, 2}, DataType::kInt8, std::vector<int8_t>(2 * kTerms, 127), {{1 / 127.0f}, {0}, 0});
  const auto y = b.quantised(graph::MatMul{}, {x, weight}, DataType::kInt8, {{2000}, {0}, 0});
  b.output(b.node(Requantise{}, {y}));
  Tensor input = Tensor::zeros({1, kTerms});
  std::ranges::fill(input.data, 1.0f);
  EXPECT_EQ(run_model(b.build(), {input}).data, (std::vector<float>{140'000, 140'000}));
}

TEST(QuantisedExtremes, OperandsWithoutElements) {
  ModelBuilder b;
  const Quantisation halves{{0.5f}, {10}, 0};
  const auto x = b.quantised(Requantise{}, {b.input({2, 3})}, DataType::kUint8, halves);
  const auto nothing =
      b.quantised(graph::Slice{{0, 0}, {2, 0}, {1, 1}}, {x}, DataType::kUint8, halves);
  const auto joined = b.quantised(graph::Concat{1}, {nothing, x}, DataType::kUint8, halves);
  const graph::Pad pad{graph::PadMode::kConstant, {0, 1}, {0, 1}, 1.5f};
  const auto padded = b.quantised(pad, {nothing}, DataType::kUint8, halves);
  b.output(b.node(Requantise{}, {joined}));
  b.output(b.node(Requantise{}, {padded}));
  const auto results = run(*load(b.build()), {{{2, 3}, {1, 2, 3, -1, -2, -3}}});
  EXPECT_EQ(results[0].data, (std::vector<float>{1, 2, 3, -1, -2, -3}));
  EXPECT_EQ(results[1].data, (std::vector<float>(4, 1.5f)));
}

TEST(QuantisedExtremes, IndicesAreNoNumbers) {
  ModelBuilder b;
  const auto indices = b.integers<int32_t>({2}, DataType::kInt32, {1, 0});
  b.output(b.node(graph::Gather{0}, {b.input({2, 3}), indices}));
  graph::Graph graph = b.build()->graph;
  ASSERT_TRUE(graph::validate(graph).ok());
  graph.values[indices].quantisation = {{1}, {0}, 0};
  EXPECT_EQ(graph::validate(graph).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::device::cpu
