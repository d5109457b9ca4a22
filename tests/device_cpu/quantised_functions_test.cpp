// Functions on integers, in any form: means, reductions, Softmax, and those of two operands.
#include <gmock/gmock.h>

#include "tests/device_cpu/quantised_model.h"

namespace millrace::device::cpu {
namespace {

using graph::BinaryKind;
using graph::Dims;
using graph::Pool;
using graph::PoolKind;
using graph::ReduceKind;
using graph::Requantise;
using graph::UnaryKind;
using tensor::DataType;
using ::testing::ElementsAre;

constexpr Form kFine{DataType::kInt8, 1 / 200.0f, -5};

TEST(QuantisedFunctions, MeansOfWindowsHaveAnyForm) {
  const Pool padded{PoolKind::kAverage, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}};
  Pool counts_padding = padded;
  counts_padding.count_include_pad = true;
  const Pool dilated{PoolKind::kAverage, {2, 3}, {1, 1}, {2, 3}, {0, 1}, {1, 0}, {0, 0}};
  for (const Pool& pool : {padded, counts_padding, dilated}) {
    for (const Form& y : {kFine, kUnsigned}) {
      QuantisedModel model;
      const auto x = model.input({2, 21, 11, 12}, kUnsigned);
      model.check(model.make(pool, {x}, y));
    }
  }
}

TEST(QuantisedFunctions, MeansOfOneAndOfThreeSpatialDimensions) {
  QuantisedModel line;
  line.check(line.make(Pool{PoolKind::kAverage, {4}, {3}, {1}, {1}, {0}, {0}},
                       {line.input({1, 9, 17}, kShifted)}, kFine));
  QuantisedModel volume;
  const Pool pool{PoolKind::kAverage, {2, 2, 2}, {2, 1, 2}, {1, 1, 1},
                  {0, 1, 0},          {0, 0, 0}, {0, 0, 0}};
  volume.check(volume.make(pool, {volume.input({1, 5, 6, 7, 8}, kShifted)}, kFine));
}

// Means often lie halfway between two steps; which of them is even does not depend on the zero
// point.
TEST(QuantisedFunctions, MeansAreRoundedToAnEvenNumberOfSteps) {
  for (const int zero_point : {0, 1, 100}) {
    ModelBuilder b;
    const graph::Quantisation form{{1}, {zero_point}, 0};
    const auto x = b.quantised(Requantise{}, {b.input({1, 1, 1, 8})}, DataType::kUint8, form);
    const Pool pool{PoolKind::kAverage, {1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}};
    b.output(b.node(Requantise{}, {b.quantised(pool, {x}, DataType::kUint8, form)}));
    EXPECT_THAT(run_model(b.build(), {{{1, 1, 1, 8}, {0, 1, 1, 2, 2, 3, 3, 4}}}).data,
                ElementsAre(0, 2, 2, 4));
  }
}

TEST(QuantisedFunctions, ProductsAreRoundedToAnEvenNumberOfSteps) {
  for (const int zero_point : {0, 1, 100}) {
    ModelBuilder b;
    const graph::Quantisation whole{{1}, {zero_point}, 0}, half{{0.5f}, {0}, 0};
    const auto x = b.quantised(Requantise{}, {b.input({1, 1, 2, 4})}, DataType::kUint8, whole);
    const auto one = b.quantised_constant<int8_t>({1, 1, 1, 1}, DataType::kInt8, {1}, half);
    const auto halves = b.quantised(conv2d(0, 1, 1), {x, one}, DataType::kUint8, whole);
    const auto rows = b.quantised(graph::Reshape{{8, 1}}, {x}, DataType::kUint8, whole);
    const auto matrix = b.quantised_constant<int8_t>({1, 1}, DataType::kInt8, {1}, half);
    b.output(b.node(Requantise{}, {halves}));
    b.output(b.node(Requantise{},
                    {b.quantised(graph::MatMul{}, {rows, matrix}, DataType::kUint8, whole)}));
    for (const Tensor& y : run(*load(b.build()), {{{1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}}}))
      EXPECT_THAT(y.data, ElementsAre(0, 0, 1, 2, 2, 2, 3, 4)) << zero_point;
  }
}

TEST(QuantisedFunctions, ReductionsOverAnyDimensions) {
  for (const auto kind : {ReduceKind::kMean, ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin})
    for (const Dims& axes : {Dims{2, 3}, Dims{1}, Dims{0, 2}, Dims{3}}) {
      QuantisedModel model;
      const auto x = model.input({2, 6, 7, 5}, kUnsigned);
      const Form y = kind == ReduceKind::kSum ? Form{DataType::kInt8, 1 / 8.0f, 3} : kShifted;
      model.check(model.make(graph::Reduce{kind, axes, false}, {x}, y));
    }
}

TEST(QuantisedFunctions, SoftmaxAlongAnyDimension) {
  for (const int64_t axis : {1, 2, 3})
    for (const bool log : {false, true}) {
      QuantisedModel model;
      const auto x = model.input({2, 6, 7, 5}, {DataType::kInt8, 1 / 24.0f, 9});
      const Form y =
          log ? Form{DataType::kUint8, 1 / 32.0f, 255} : Form{DataType::kUint8, 1 / 256.0f, 0};
      model.check(model.make(graph::Softmax{axis, log}, {x}, y));
    }
}

TEST(QuantisedFunctions, SoftmaxOfLongRows) {
  QuantisedModel model;
  const auto x = model.input({1, 2500}, {DataType::kUint8, 1 / 16.0f, 128});
  model.check(model.make(graph::Softmax{1}, {x}, {DataType::kUint8, 1 / 65536.0f, 0}));
}

TEST(QuantisedFunctions, FunctionsThatTheLibraryHasNot) {
  for (const auto kind : {UnaryKind::kErf, UnaryKind::kRound, UnaryKind::kFloor, UnaryKind::kCeil,
                          UnaryKind::kGelu}) {
    QuantisedModel model;
    const auto x = model.input({1, 6, 10, 10}, kSigned);
    model.check(model.make(graph::Unary{{kind, 0, 0}}, {x}, kWide));
  }
}

TEST(QuantisedFunctions, SlopesAndExponentsPerChannel) {
  for (const auto kind : {BinaryKind::kPrelu, BinaryKind::kPow}) {
    QuantisedModel model;
    // Powers of negative numbers are no numbers.
    const Form positive{DataType::kUint8, 1 / 128.0f, 0};
    const auto x = model.input({2, 6, 5, 4}, kind == BinaryKind::kPow ? positive : kUnsigned);
    const auto b = model.input({6, 1, 1}, kShifted);
    model.check(model.make(graph::Binary{kind}, {x, b}, kShifted));
  }
}

TEST(QuantisedFunctions, TheOtherOperandMayBeAConstantOfFloats) {
  for (const Dims& dims : {Dims{6, 1, 1}, Dims{4}, Dims{2, 6, 5, 4}, Dims{1}})
    for (const auto kind :
         {BinaryKind::kPrelu, BinaryKind::kAdd, BinaryKind::kMul, BinaryKind::kSub}) {
      QuantisedModel model;
      const auto x = model.input({2, 6, 5, 4}, kUnsigned);
      const auto b = model.builder.constant(Tensor::numbers(dims, 8));
      model.check(model.make(graph::Binary{kind}, {x, b}, kWide));
      if (kind == BinaryKind::kPrelu) continue;
      QuantisedModel reverse;
      const auto a = reverse.builder.constant(Tensor::numbers(dims, 8));
      const auto y = reverse.input({2, 6, 5, 4}, kUnsigned);
      reverse.check(reverse.make(graph::Binary{kind}, {a, y}, kWide));
    }
}

}  // namespace
}  // namespace millrace::device::cpu
