// Convolutions of every form against their definition, with everything that is fused into them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/process/topology.h"
#include "tensor/half.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Activation;
using graph::Dims;
using graph::kNoValue;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;

struct Shape {
  const char* name;
  Dims x;
  int64_t filters;
  Dims kernel;
  graph::Conv op;
};

graph::Conv conv(const Dims& strides, const Dims& dilations, const Dims& begin, const Dims& end,
                 int64_t group = 1) {
  return {strides, dilations, begin, end, group, {}};
}

Dims weight_dims(const Shape& shape) {
  Dims dims = {shape.filters, shape.x[1] / shape.op.group};
  dims.insert(dims.end(), shape.kernel.begin(), shape.kernel.end());
  return dims;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"FirstLayer", {1, 3, 18, 17}, 16, {3, 3}, conv({2, 2}, {1, 1}, {0, 0}, {1, 1})},
      {"Pointwise", {1, 32, 7, 9}, 48, {1, 1}, conv({1, 1}, {1, 1}, {0, 0}, {0, 0})},
      {"Square", {1, 32, 9, 9}, 32, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {"OddChannels", {1, 10, 8, 8}, 21, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {"OneChannel", {1, 1, 9, 9}, 1, {5, 5}, conv({1, 1}, {1, 1}, {2, 2}, {2, 2})},
      {"OneChannelOfABatch", {3, 1, 19, 41}, 1, {2, 3}, conv({1, 1}, {1, 1}, {1, 2}, {0, 0})},
      {"OneChannelToOneColumn", {2, 1, 12, 1}, 3, {2, 2}, conv({1, 2}, {2, 1}, {1, 0}, {0, 1})},
      {"Asymmetric", {1, 16, 9, 10}, 16, {3, 5}, conv({2, 1}, {1, 1}, {0, 3}, {2, 1})},
      {"Depthwise", {1, 24, 10, 10}, 24, {3, 3}, conv({2, 2}, {1, 1}, {1, 1}, {1, 1}, 24)},
      {"DepthwiseTwice", {1, 16, 8, 8}, 32, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 16)},
      {"Grouped", {1, 32, 8, 8}, 64, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 2)},
      {"OddGroups", {1, 12, 8, 8}, 18, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 3)},
      {"Dilated", {1, 16, 12, 12}, 16, {3, 3}, conv({1, 1}, {2, 3}, {2, 3}, {2, 3})},
      {"Batch", {3, 16, 6, 6}, 16, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      // With 23 rows of 18 elements oneDNN 2.6.3's kernel for AMX reads beyond an array of its own.
      {"LargeSquare", {1, 32, 18, 23}, 48, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {"ManyChannels", {1, 64, 10, 10}, 144, {3, 3}, conv({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {"SmallImage", {1, 128, 7, 7}, 144, {1, 1}, conv({1, 1}, {1, 1}, {0, 0}, {0, 0})},
      {"ToASmallImage", {1, 128, 13, 13}, 128, {3, 3}, conv({2, 2}, {1, 1}, {1, 1}, {1, 1})},
      {"Unpadded", {1, 16, 41, 38}, 16, {3, 3}, conv({1, 1}, {1, 1}, {0, 0}, {0, 0})},
      {"WidePads", {2, 16, 15, 21}, 32, {3, 3}, conv({1, 1}, {1, 1}, {2, 0}, {3, 5})},
      {"ReadsOnlyPadding", {3, 6, 1, 15}, 10, {2, 1}, conv({1, 1}, {2, 1}, {1, 0}, {1, 0})},
      {"BeginsInPadding", {1, 16, 6, 6}, 32, {3, 3}, conv({1, 1}, {1, 1}, {4, 0}, {0, 4})},
      {"Line", {1, 16, 30}, 32, {5}, conv({2}, {1}, {2}, {2})},
      {"Volume", {1, 16, 5, 6, 7}, 16, {3, 3, 3}, conv({1, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1})},
  };
  return kShapes;
}

class ConvShape : public ::testing::TestWithParam<std::tuple<size_t, Precision>> {};

TEST_P(ConvShape, IsTheSumOverTheWindow) {
  const Shape& shape = shapes()[std::get<0>(GetParam())];
  const Precision precision = std::get<1>(GetParam());
  const Tensor x = Tensor::numbers(shape.x, 1), weight = Tensor::numbers(weight_dims(shape), 2),
               bias = Tensor::numbers({shape.filters}, 3);
  ModelBuilder builder(precision);
  const ValueId y = builder.node(
      shape.op, {builder.input(shape.x), builder.constant(weight), builder.constant(bias)});
  builder.output(y);
  const auto model = builder.build();
  Tensor expected = reference_conv(shape.op, x, weight, model->graph.values[y].shape);
  for_each_index(expected.dims, [&](const Dims& at) { expected.at(at) += bias.at({at[1]}); });
  const auto program = load(model);
  EXPECT_THAT(implementations(*program),
              ::testing::Each(::testing::Not(::testing::HasSubstr("ref"))));
  expect_close(run(*program, {x}).at(0), expected, tolerance_of(precision));
}

// Fused operators apply to all results, even to those that no element of x reaches.
TEST_P(ConvShape, AddsAResidualAndAppliesAFunction) {
  const Shape& shape = shapes()[std::get<0>(GetParam())];
  const Precision precision = std::get<1>(GetParam());
  graph::Conv op = shape.op;
  op.activation.kind = UnaryKind::kTanh;
  const Tensor x = Tensor::numbers(shape.x, 1);
  Tensor weight = Tensor::numbers(weight_dims(shape), 2);
  for (float& value : weight.data) value /= 16;
  ModelBuilder builder(precision);
  const ValueId input = builder.input(shape.x);
  const ValueId sum = builder.node(shape.op, {input, builder.constant(weight)});
  const ValueId residual = builder.node(graph::Unary{{UnaryKind::kAbs, 0, 0}}, {sum});
  builder.output(builder.node(op, {input, builder.constant(weight), kNoValue, residual}));
  const auto model = builder.build();
  Tensor expected = reference_conv(shape.op, x, weight, model->graph.values[sum].shape);
  for (float& value : expected.data) value = std::tanh(value + std::fabs(value));
  expect_close(run_model(model, {x}), expected, tolerance_of(precision));
}

INSTANTIATE_TEST_SUITE_P(All, ConvShape,
                         ::testing::Combine(::testing::Range(size_t{0}, shapes().size()),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return std::string(shapes()[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

TEST(ConvKernel, OfLargeImagesMultipliesTiles) {
  if (!topology().features.avx2) GTEST_SKIP() << "the library's kernels are used here";
  ModelBuilder builder;
  const auto large = [&](ValueId x, const Dims& weight, int64_t stride) {
    const int64_t pad = weight[2] / 2;
    return builder.node(conv({stride, stride}, {1, 1}, {pad, pad}, {pad, pad}),
                        {x, builder.constant(Tensor::numbers(weight, 1))});
  };
  const ValueId x = builder.input({1, 32, 28, 28});
  builder.output(large(x, {32, 32, 3, 3}, 1));
  builder.output(large(x, {32, 32, 3, 3}, 2));
  builder.output(large(x, {32, 32, 5, 5}, 1));
  EXPECT_THAT(implementations(*load(builder.build())),
              ::testing::Contains("Conv millrace:winograd").Times(1));
}

TEST(ConvKernel, FromOneChannelToOneFillsVectorsWithPixels) {
  const Dims dims = {1, 1, 40, 45};
  const Tensor x = Tensor::numbers({1, 32, 40, 45}, 1), mix = Tensor::numbers({1, 32, 1, 1}, 2),
               weight = Tensor::numbers({1, 1, 3, 3}, 3), bias = Tensor::numbers({1}, 4);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16})
    for (const UnaryKind activation : {UnaryKind::kRelu, UnaryKind::kSigmoid}) {
      graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
      op.activation.kind = activation;
      ModelBuilder builder(precision);
      const ValueId mixed = builder.node(conv({1, 1}, {1, 1}, {0, 0}, {0, 0}),
                                         {builder.input(x.dims), builder.constant(mix)});
      builder.output(builder.node(op, {mixed, builder.constant(weight), builder.constant(bias)}));
      const auto program = load(builder.build());
      EXPECT_THAT(implementations(*program), ::testing::Contains("Conv millrace:one-channel"));
      const Tensor sums = reference_conv(
          op, reference_conv(conv({1, 1}, {1, 1}, {0, 0}, {0, 0}), x, mix, dims), weight, dims);
      Tensor expected = sums;
      for_each_index(dims, [&](const Dims& at) {
        const float sum = sums.at(at) + bias.data[0];
        expected.at(at) =
            activation == UnaryKind::kRelu ? std::max(sum, 0.0F) : 1 / (1 + std::exp(-sum));
      });
      expect_close(run(*program, {x}).at(0), expected, tolerance_of(precision));
    }
}

TEST(ConvKernel, OfLargeImagesInBf16MultipliesTilesWithoutAmx) {
  const CpuFeatures& features = topology().features;
  if (!features.avx512_bf16 || features.amx_bf16) GTEST_SKIP() << "other kernels are used here";
  const Dims dims = {1, 64, 28, 30};
  graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
  op.activation.kind = UnaryKind::kRelu;
  const Tensor x = Tensor::numbers(dims, 1), weight = Tensor::numbers({64, 64, 3, 3}, 2),
               bias = Tensor::numbers({64}, 3), residual = Tensor::numbers(dims, 4);
  ModelBuilder builder(Precision::kBf16);
  builder.output(builder.node(op, {builder.input(dims), builder.constant(weight),
                                   builder.constant(bias), builder.input(dims)}));
  const auto program = load(builder.build());
  EXPECT_THAT(implementations(*program), ::testing::Contains("Conv millrace:winograd"));
  Tensor expected = reference_conv(op, x, weight, dims);
  for_each_index(dims, [&](const Dims& at) {
    expected.at(at) = std::max(expected.at(at) + bias.at({at[1]}) + residual.at(at), 0.0F);
  });
  expect_close(run(*program, {x, residual}).at(0), expected, tolerance_of(Precision::kBf16));
}

// A depthwise convolution of `channels`, of an image or of a convolution of one pixel of it.
struct Pair {
  const char* name;
  Dims x;
  int64_t channels;
  graph::Conv depthwise;
};

class ConvPair : public ::testing::TestWithParam<Pair> {
 protected:
  static constexpr Activation kUpToSix{UnaryKind::kClip, 0, 6};

  ConvPair()
      : x_(Tensor::numbers(GetParam().x, 1)),
        weight_(Tensor::numbers({GetParam().channels, x_.dims[1], 1, 1}, 2)),
        filters_(Tensor::numbers({GetParam().channels, 1, 3, 3}, 3)),
        bias_(Tensor::numbers({GetParam().channels}, 4)) {
    pointwise_.activation = kUpToSix;
    depthwise_ = GetParam().depthwise;
    depthwise_.activation.kind = UnaryKind::kRelu;
  }

  // The two nodes; gives the result of the first, too.
  std::pair<ValueId, ValueId> add(ModelBuilder& builder) {
    const ValueId between = builder.node(
        pointwise_, {builder.input(x_.dims), builder.constant(weight_), builder.constant(bias_)});
    return {between, builder.node(depthwise_, {between, builder.constant(filters_)})};
  }

  std::pair<Tensor, Tensor> expected(const graph::Graph& graph, ValueId between, ValueId y) {
    Tensor first = reference_conv(pointwise_, x_, weight_, graph.values[between].shape);
    for_each_index(first.dims, [&](const Dims& at) { first.at(at) += bias_.at({at[1]}); });
    first = map(first, [](float v) { return std::clamp(v, 0.0F, 6.0F); });
    const Tensor second = reference_conv(depthwise_, first, filters_, graph.values[y].shape);
    return {first, map(second, [](float v) { return std::max(v, 0.0F); })};
  }

  Tensor x_, weight_, filters_, bias_;
  graph::Conv pointwise_ = conv({1, 1}, {1, 1}, {0, 0}, {0, 0});
  graph::Conv depthwise_;
};

TEST_P(ConvPair, IsOneAfterTheOther) {
  ModelBuilder builder;
  const auto [between, y] = add(builder);
  builder.output(y);
  const auto model = builder.build();
  const auto program = load(model);
  // With AVX2 some are faster as two steps.
  if (topology().features.avx512) {
    EXPECT_THAT(implementations(*program), ::testing::Contains("Conv millrace:separable"));
  }
  expect_close(run(*program, {x_}).at(0), expected(model->graph, between, y).second, 1e-4);
}

TEST_P(ConvPair, WhoseFirstResultIsReadElsewhere) {
  ModelBuilder builder;
  const auto [between, y] = add(builder);
  builder.output(y);
  builder.output(between);
  const auto model = builder.build();
  const auto results = run(*load(model), {x_});
  const auto [first, second] = expected(model->graph, between, y);
  expect_close(results.at(0), second, 1e-4);
  expect_close(results.at(1), first, 1e-4);
}

// A result that is read elsewhere, too, is made by a step of its own. Without AMX that is the
// library's, which adds sums up in another order.
TEST_P(ConvPair, InBf16GivesWhatTwoStepsGive) {
  ModelBuilder one(Precision::kBf16), two(Precision::kBf16);
  one.output(add(one).second);
  const auto [between, y] = add(two);
  two.output(y);
  two.output(between);
  const auto step = load(one.build()), steps = load(two.build());
  const auto has_step = ::testing::Contains("Conv millrace:separable");
  EXPECT_THAT(implementations(*steps), ::testing::Not(has_step));
  if (step->info().precision != Precision::kBf16) GTEST_SKIP() << step->info().note;
  const bool has_pairs_of_channels = x_.dims[1] % 2 == 0;
  EXPECT_THAT(implementations(*step), has_step.Times(has_pairs_of_channels));
  const Tensor actual = run(*step, {x_}).at(0), expected = run(*steps, {x_}).at(0);
  if (topology().features.amx_bf16)
    EXPECT_EQ(actual.data, expected.data);
  else
    expect_close(actual, expected, tolerance_of(Precision::kBf16));
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvPair,
    ::testing::Values(
        Pair{"Stride1", {1, 24, 53, 54}, 48, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 48)},
        Pair{"Stride2", {1, 16, 41, 40}, 80, conv({2, 2}, {1, 1}, {1, 1}, {1, 1}, 80)},
        Pair{"PadsAtTheEnd", {1, 9, 48, 47}, 64, conv({2, 2}, {1, 1}, {0, 0}, {1, 1}, 64)},
        Pair{"Unpadded", {1, 32, 37, 37}, 96, conv({1, 1}, {1, 1}, {0, 0}, {0, 0}, 96)},
        Pair{"WidePadsAtTheEnd", {1, 32, 37, 37}, 96, conv({1, 1}, {1, 1}, {1, 0}, {3, 4}, 96)},
        Pair{"Batch", {2, 16, 64, 65}, 32, conv({1, 1}, {1, 1}, {0, 1}, {1, 0}, 32)}),
    [](const auto& info) { return std::string(info.param.name); });

// Depthwise convolutions of 3x3 taps, for which the device has vector loops of its own.
class DepthwiseConv : public ::testing::TestWithParam<Pair> {};

TEST_P(DepthwiseConv, InBf16RoundsExactSums) {
  const auto& [name, dims, channels, op] = GetParam();
  const Tensor x = Tensor::numbers(dims, 1), weight = Tensor::numbers({channels, 1, 3, 3}, 2),
               bias = Tensor::numbers({channels}, 3);
  graph::Conv clipped = op;
  clipped.activation = {UnaryKind::kClip, -0.25f, 1};
  ModelBuilder builder(Precision::kBf16);
  const ValueId y = builder.node(
      clipped, {builder.input(x.dims), builder.constant(weight), builder.constant(bias)});
  builder.output(y);
  const auto model = builder.build();
  Tensor expected = reference_conv(op, x, weight, model->graph.values[y].shape);
  for_each_index(expected.dims, [&](const Dims& at) {
    const float sum = std::clamp(expected.at(at) + bias.at({at[1]}), -0.25f, 1.0f);
    expected.at(at) = tensor::bf16_to_float(tensor::float_to_bf16(sum));
  });
  if (!topology().features.amx_bf16) GTEST_SKIP() << "such images have another layout here";
  const auto program = load(model);
  EXPECT_THAT(implementations(*program), ::testing::Contains("Conv millrace:depthwise"));
  EXPECT_EQ(run(*program, {x}).at(0).data, expected.data);
}

// A vector holds 32 channels, the last one perhaps half of that.
INSTANTIATE_TEST_SUITE_P(
    All, DepthwiseConv,
    ::testing::Values(
        Pair{"OneGroup", {1, 32, 9, 13}, 32, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 32)},
        Pair{"TwoGroups", {1, 64, 8, 8}, 64, conv({2, 2}, {1, 1}, {1, 1}, {1, 1}, 64)},
        Pair{"AHalfAtTheEnd", {2, 72, 10, 11}, 72, conv({2, 2}, {1, 1}, {0, 0}, {1, 1}, 72)},
        Pair{"AGroupAtTheEnd", {1, 90, 5, 6}, 90, conv({1, 1}, {1, 1}, {1, 0}, {2, 3}, 90)},
        Pair{"Unpadded", {1, 144, 6, 7}, 144, conv({1, 1}, {1, 1}, {0, 0}, {0, 0}, 144)},
        Pair{"SmallerThanAWindow", {1, 32, 1, 2}, 32, conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, 32)}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DepthwiseConvolution, InBf16ANanStaysOneUnderItsWindowsOnly) {
  if (!topology().features.amx_bf16) GTEST_SKIP() << "such images have another layout here";
  constexpr int64_t kChannels = 32;
  Tensor x = Tensor::numbers({1, kChannels, 6, 6}, 1), bias = Tensor::numbers({kChannels}, 3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  x.at({0, 5, 0, 1}) = nan;
  bias.at({7}) = nan;
  graph::Conv clipped = conv({1, 1}, {1, 1}, {1, 1}, {1, 1}, kChannels);
  clipped.activation = {UnaryKind::kClip, -0.25f, 1};
  ModelBuilder builder(Precision::kBf16);
  const ValueId y = builder.node(
      clipped, {builder.input(x.dims), builder.constant(Tensor::numbers({kChannels, 1, 3, 3}, 2)),
                builder.constant(bias)});
  builder.output(y);
  const auto program = load(builder.build());
  EXPECT_THAT(implementations(*program), ::testing::Contains("Conv millrace:depthwise"));
  const Tensor result = run(*program, {x}).at(0);
  for_each_index(result.dims, [&](const Dims& at) {
    const bool is_under = at[1] == 5 && at[2] <= 1 && at[3] <= 2;
    EXPECT_EQ(std::isnan(result.at(at)), is_under || at[1] == 7) << ::testing::PrintToString(at);
  });
}

// A 3x3 convolution between images of `channels`, and what its definition gives before fusions.
struct Layer {
  explicit Layer(int64_t channels_, Precision precision)
      : channels(channels_),
        builder(precision),
        x(Tensor::numbers({1, channels, 6, 6}, 1)),
        weight(Tensor::numbers({channels, channels, 3, 3}, 2)),
        bias(Tensor::numbers({channels}, 3)) {
    for (float& value : weight.data) value /= 8;
    sum = reference_conv(op, x, weight, x.dims);
    for_each_index(sum.dims, [&](const Dims& at) { sum.at(at) += bias.at({at[1]}); });
  }

  ValueId add(ValueId input, ValueId residual = kNoValue, ValueId slope = kNoValue) {
    return builder.node(op,
                        {input, builder.constant(weight), builder.constant(bias), residual, slope});
  }

  int64_t channels;
  graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
  ModelBuilder builder;
  Tensor x, weight, bias, sum;
};

class ConvFusion : public ::testing::TestWithParam<std::tuple<int64_t, Precision>> {
 protected:
  Layer make_layer() { return Layer(std::get<0>(GetParam()), precision()); }
  Precision precision() { return std::get<1>(GetParam()); }
};

TEST_P(ConvFusion, EveryActivation) {
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind) {
    const Activation activation{static_cast<UnaryKind>(kind), 0.25f, 0.5f};
    const bool needs_positive =
        activation.kind == UnaryKind::kLog || activation.kind == UnaryKind::kSqrt ||
        activation.kind == UnaryKind::kReciprocal || activation.kind == UnaryKind::kPow;
    // These jump, so that a rounding error of the sum may become one of the result.
    const bool jumps = activation.kind == UnaryKind::kRound ||
                       activation.kind == UnaryKind::kFloor || activation.kind == UnaryKind::kCeil;
    if (needs_positive || (jumps && precision() == Precision::kBf16)) continue;
    Layer layer = make_layer();
    layer.op.activation = activation;
    layer.builder.output(layer.add(layer.builder.input(layer.x.dims)));
    SCOPED_TRACE(name_of(activation.kind));
    expect_close(run_model(layer.builder.build(), {layer.x}),
                 map(layer.sum, [&](float v) { return reference_unary(activation, v); }),
                 tolerance_of(precision()));
  }
}

TEST_P(ConvFusion, ResidualThatIsNotNeededAfterwards) {
  Layer layer = make_layer();
  layer.op.activation.kind = UnaryKind::kRelu;
  const ValueId x = layer.builder.input(layer.x.dims), other = layer.builder.input(layer.x.dims);
  // Passing through another operator, so that it is the program's to overwrite.
  const ValueId residual = layer.builder.node(graph::Unary{{UnaryKind::kAbs, 0, 0}}, {other});
  layer.builder.output(layer.add(x, residual));
  const Tensor r = Tensor::numbers(layer.x.dims, 9);
  Tensor expected = layer.sum;
  for (size_t i = 0; i < expected.data.size(); ++i)
    expected.data[i] = std::max(0.0f, expected.data[i] + std::fabs(r.data[i]));
  expect_close(run_model(layer.builder.build(), {layer.x, r}), expected, tolerance_of(precision()));
}

TEST_P(ConvFusion, ResidualThatIsNeededAfterwards) {
  Layer layer = make_layer();
  const ValueId x = layer.builder.input(layer.x.dims), other = layer.builder.input(layer.x.dims);
  const ValueId residual = layer.builder.node(graph::Unary{{UnaryKind::kAbs, 0, 0}}, {other});
  const ValueId y = layer.add(x, residual);
  layer.builder.output(layer.builder.node(graph::Binary{graph::BinaryKind::kMul}, {y, residual}));
  const Tensor r = Tensor::numbers(layer.x.dims, 9);
  Tensor expected = layer.sum;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    const float a = std::fabs(r.data[i]);
    expected.data[i] = (expected.data[i] + a) * a;
  }
  expect_close(run_model(layer.builder.build(), {layer.x, r}), expected, tolerance_of(precision()));
}

TEST_P(ConvFusion, ResidualThatIsTheInput) {
  Layer layer = make_layer();
  const ValueId x = layer.builder.node(graph::Unary{{UnaryKind::kLinear, 1, 0}},
                                       {layer.builder.input(layer.x.dims)});
  layer.builder.output(layer.add(x, x));
  Tensor expected = layer.sum;
  for (size_t i = 0; i < expected.data.size(); ++i) expected.data[i] += layer.x.data[i];
  expect_close(run_model(layer.builder.build(), {layer.x}), expected, tolerance_of(precision()));
}

TEST_P(ConvFusion, ResidualAndPReluWithASlopePerChannel) {
  Layer layer = make_layer();
  const Tensor slope = Tensor::numbers({layer.channels}, 5), r = Tensor::numbers(layer.x.dims, 9);
  const ValueId x = layer.builder.input(layer.x.dims), residual = layer.builder.input(layer.x.dims);
  layer.builder.output(layer.add(x, residual, layer.builder.constant(slope)));
  Tensor expected = layer.sum;
  for_each_index(expected.dims, [&](const Dims& at) {
    const float value = expected.at(at) + r.at(at);
    expected.at(at) = value < 0 ? value * slope.at({at[1]}) : value;
  });
  expect_close(run_model(layer.builder.build(), {layer.x, r}), expected, tolerance_of(precision()));
}

INSTANTIATE_TEST_SUITE_P(All, ConvFusion,
                         ::testing::Combine(::testing::Values(16, 10, 3),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return "Channels" + std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

// A convolution whose weights arrive when the program runs.
TEST(ConvWeights, MayBeAnInput) {
  const Tensor x = Tensor::numbers({1, 16, 5, 5}, 1), weight = Tensor::numbers({16, 16, 3, 3}, 2);
  const graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
  ModelBuilder builder;
  builder.output(builder.node(op, {builder.input(x.dims), builder.input(weight.dims)}));
  expect_close(run_model(builder.build(), {x, weight}), reference_conv(op, x, weight, x.dims),
               1e-5);
}

// The compiler stores weights in the type of the program; a program that computes in another type
// takes them too.
TEST(ConvWeights, MayBeStoredInAnyFloatingType) {
  const Tensor x = Tensor::numbers({1, 16, 5, 5}, 1), weight = Tensor::numbers({16, 16, 3, 3}, 2);
  const graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
  const Tensor expected = reference_conv(op, x, weight, x.dims);
  for (Precision precision : {Precision::kFp32, Precision::kBf16})
    for (tensor::DataType type :
         {tensor::DataType::kFloat32, tensor::DataType::kBf16, tensor::DataType::kFp16}) {
      SCOPED_TRACE(to_string(type));
      ModelBuilder builder(precision);
      builder.output(builder.node(op, {builder.input(x.dims), builder.constant(weight, type)}));
      expect_close(run_model(builder.build(), {x}), expected, tolerance_of(precision));
    }
}

// Heads of detectors use the same weights in this way, for images of several sizes.
TEST(ConvWeights, ArePackedOnceForSeveralReaders) {
  const Tensor weight = Tensor::numbers({64, 64, 3, 3}, 2);
  const graph::Conv op = conv({1, 1}, {1, 1}, {1, 1}, {1, 1});
  const auto weight_bytes = [&](size_t readers) {
    ModelBuilder builder;
    const ValueId x = builder.input({1, 64, 32, 32}), shared = builder.constant(weight);
    for (size_t i = 0; i < readers; ++i) builder.output(builder.node(op, {x, shared}));
    return load(builder.build())->info().weight_bytes;
  };
  EXPECT_EQ(weight_bytes(2), weight_bytes(1));
}

// Blocks of channels would leave the library's kernels short of elements.
TEST(ConvLayouts, ManyChannelsOfASmallImageLieInnermost) {
  if (!topology().features.avx512) GTEST_SKIP() << "the processor has no AVX-512";
  ModelBuilder builder;
  const Tensor weight = Tensor::numbers({128, 128, 1, 1}, 2);
  builder.output(builder.node(conv({1, 1}, {1, 1}, {0, 0}, {0, 0}),
                              {builder.input({1, 128, 7, 7}), builder.constant(weight)}));
  const auto program = load(builder.build());
  const auto& steps = program->info().steps;
  const auto found = std::ranges::find(steps, "Conv", &StepInfo::operation);
  ASSERT_NE(found, steps.end());
  EXPECT_EQ(found->writes, "f32:acdb");
}

}  // namespace
}  // namespace millrace::device::cpu
