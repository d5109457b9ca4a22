// Kernels on integers: they give what dequantising, computing and quantising give, up to one step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "base/process/topology.h"
#include "device/cpu/dnnl/defects.h"
#include "tests/device_cpu/quantised_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Quantisation;
using graph::Requantise;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;
using ::testing::Contains;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

constexpr Form kPositive{DataType::kUint8, 1 / 64.0f, 0};
constexpr graph::Activation kClip{UnaryKind::kClip, 0, 255 / 64.0f};

struct ConvCase {
  const char* name;
  Form x, y;
  int64_t channels, filters, group, kernel, stride;
  graph::Activation activation;
};

class QuantisedConv : public ::testing::TestWithParam<ConvCase> {};

TEST_P(QuantisedConv, IsWhatTheNumbersGive) {
  const ConvCase& c = GetParam();
  QuantisedModel model;
  const auto x = model.input({1, c.channels, 14, 13}, c.x);
  const auto weight = model.weights({c.filters, c.channels / c.group, c.kernel, c.kernel});
  const auto y = model.make(conv2d(c.kernel / 2, c.stride, c.group, c.activation),
                            {x, weight, model.bias(c.filters)}, c.y);
  // With oneDNN 3.x this one is computed in FP32.
  if (!kReordersEveryLayout && std::string_view(c.name) == "odd_channels")
    model.check_numbers(y);
  else
    model.check(y);
}

INSTANTIATE_TEST_SUITE_P(
    , QuantisedConv,
    ::testing::Values(
        ConvCase{"dense", kUnsigned, kWide, 32, 48, 1, 3, 1, {}},
        ConvCase{"pointwise", kSigned, kShifted, 16, 24, 1, 1, 1, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"pointwise_wide", kUnsigned, kWide, 16, 104, 1, 1, 1, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"pointwise_signed", kShifted, kShifted, 32, 64, 1, 1, 1, {}},
        ConvCase{"few_channels", kShifted, kUnsigned, 3, 32, 1, 3, 2, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"odd_channels", kUnsigned, kSigned, 7, 9, 1, 3, 1, {}},
        ConvCase{"grouped", kSigned, kWide, 32, 64, 4, 3, 1, {UnaryKind::kClip, 0, 1.5f}},
        // oneDNN 2.6 describes a primitive of AVX-512 that it then cannot make.
        ConvCase{"grouped_pointwise", kSigned, kWide, 16, 16, 2, 1, 1, {}},
        ConvCase{"grouped_few", kSigned, kWide, 12, 24, 3, 1, 1, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"depthwise", kUnsigned, kWide, 40, 40, 40, 3, 1, {UnaryKind::kClip, 0, 1.5f}},
        ConvCase{"depthwise_stride", kWide, kUnsigned, 144, 144, 144, 3, 2, {}},
        ConvCase{"depthwise_to_signed", kUnsigned, kShifted, 96, 96, 96, 3, 1, {}},
        ConvCase{"depthwise_half", kWide, kWide, 32, 32, 32, 3, 1, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"depthwise_signed", kShifted, kShifted, 32, 32, 32, 3, 2, {}},
        ConvCase{"depthwise_wide", kUnsigned, kUnsigned, 24, 24, 24, 5, 1, {}},
        ConvCase{"swish", kUnsigned, kWide, 16, 16, 1, 3, 1, {UnaryKind::kSwish, 0, 0}},
        ConvCase{"leaky", kUnsigned, kWide, 16, 16, 1, 1, 1, {UnaryKind::kLeakyRelu, 0.1f, 0}}),
    [](const auto& info) { return info.param.name; });

TEST(QuantisedKernels, ConvAddsAResidualOfAnotherForm) {
  for (const bool read_again : {false, true}) {
    QuantisedModel model;
    const auto x = model.input({1, 16, 9, 9}, kUnsigned);
    const auto residual = model.input({1, 16, 9, 9}, kShifted);
    const auto y = model.make(conv2d(1, 1, 1, {UnaryKind::kRelu, 0, 0}),
                              {x, model.weights({16, 16, 3, 3}), model.bias(16), residual}, kWide);
    const auto z = model.make(
        conv2d(0, 1, 1),
        {y, model.weights({16, 16, 1, 1}), kNoValue, read_again ? residual : kNoValue}, kWide);
    model.check(z);
  }
}

// Rows of positive weights, whose sums with elements around a zero point of 200 are far larger than
// what is left of them: products of `k` elements, by an operator without a bias, in FP32.
struct ShiftedSums {
  int64_t k, rows = 16, columns = 16;
  static constexpr Form kForm{DataType::kUint8, 1 / 64.0f, 200};
  Tensor x = Tensor::numbers({rows, k}, 3);
  std::vector<int8_t> weights;

  explicit ShiftedSums(int64_t size) : k(size) {
    for (const float number : Tensor::numbers({columns * k}, 4).data)
      weights.push_back(static_cast<int8_t>(110 + number * 17));
  }

  // The sum of products less their zero points.
  int64_t sum(int64_t row, int64_t column) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      const float number = std::nearbyint(x.data[static_cast<size_t>(row * k + i)] * 64);
      sum +=
          weights[static_cast<size_t>(column * k + i)] * static_cast<int>(std::min(number, 55.f));
    }
    return sum;
  }

  // The largest difference of what the operator gives to the exact sums; `shape` of x, weights of
  // `weight_shape` in the order of `weights`.
  double largest_error(graph::Operator op, const Dims& shape, const Dims& weight_shape) const {
    ModelBuilder builder;
    const ValueId steps = builder.quantised(graph::Requantise{}, {builder.input(shape)}, kForm.type,
                                            kForm.quantisation());
    const ValueId weight =
        builder.quantised_constant(weight_shape, DataType::kInt8, weights, {{1}, {0}, 0});
    builder.output(builder.node(std::move(op), {steps, weight}));
    const Tensor y = run(*load(builder.build()), {Tensor{shape, x.data}})[0];
    double largest = 0;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        const float found = y.data[static_cast<size_t>(row * columns + column)] * 64;
        largest = std::max(largest, std::abs(found - static_cast<double>(sum(row, column))));
      }
    return largest;
  }
};

// The zero point goes into the bias where FP32 holds the sums, and stays with the integers else.
TEST(QuantisedKernels, ConvOfSumsThatFp32RoundsIsExact) {
  for (const int64_t k : {64, 1024, 4096}) {
    const ShiftedSums sums(k);
    EXPECT_EQ(sums.largest_error(conv2d(0, 1, 1), {sums.rows, k, 1, 1}, {sums.columns, k, 1, 1}), 0)
        << k;
  }
}

TEST(QuantisedKernels, MatMulOfSumsThatFp32RoundsIsWithinItsBound) {
  for (const int64_t k : {64, 1024, 4096}) {
    const ShiftedSums sums(k);
    graph::MatMul product;
    product.transpose_b = true;
    const bool is_exact = k == 64;
    EXPECT_LE(sums.largest_error(product, {sums.rows, k}, {sums.columns, k}),
              is_exact ? 0 : static_cast<double>(k * 127 * 255) / (1 << 23))
        << k;
  }
}

TEST(QuantisedKernels, ConvTakesUnsignedWeights) {
  QuantisedModel model;
  const auto x = model.input({2, 8, 6, 6}, kUnsigned);
  model.check(
      model.make(conv2d(1, 1, 1), {x, model.weights({8, 8, 3, 3}, DataType::kUint8, 128)}, kWide));
}

TEST(QuantisedKernels, ConvOfOneSpatialDimension) {
  QuantisedModel model;
  const auto x = model.input({1, 16, 30}, kUnsigned);
  const graph::Conv conv{{1}, {2}, {2}, {2}, 1, {}};
  model.check(model.make(conv, {x, model.weights({16, 16, 3})}, kWide));
}

// Whether the layer's weights are [N, K].
class QuantisedMatMul : public ::testing::TestWithParam<bool> {};

TEST_P(QuantisedMatMul, WithConstantWeights) {
  for (const Form& y : {kWide, kShifted}) {
    QuantisedModel model;
    const auto a = model.input({3, 5, 24}, kUnsigned);
    // Scales go along the columns.
    Quantisation quantisation{std::vector<float>(7, 1 / 256.0f), std::vector<int32_t>(7, 0), 1};
    for (size_t i = 0; i < 7; ++i) quantisation.scales[i] *= static_cast<float>(i + 1);
    quantisation.axis = GetParam() ? 0 : 1;
    std::vector<int8_t> elements;
    for (const float number : Tensor::numbers({24 * 7}, 5).data)
      elements.push_back(static_cast<int8_t>(number * 127));
    const Dims dims = GetParam() ? Dims{7, 24} : Dims{24, 7};
    const auto b = model.builder.quantised_constant(dims, DataType::kInt8, elements, quantisation);
    const graph::MatMul op{false, GetParam(), 0.5f, {UnaryKind::kLeakyRelu, 0.25f, 0}};
    model.check(model.make(op, {a, b, model.bias(7)}, y));
  }
}
INSTANTIATE_TEST_SUITE_P(, QuantisedMatMul, ::testing::Bool());

TEST(QuantisedKernels, MatMulOfTwoValues) {
  for (const Form& right : {kUnsigned, kShifted}) {
    QuantisedModel model;
    const auto a = model.input({2, 4, 9, 16}, kUnsigned);
    const auto b = model.input({2, 4, 11, 16}, right);
    model.check(model.make(graph::MatMul{false, true, 0.25f, {}}, {a, b}, kWide));
  }
}

TEST(QuantisedKernels, PoolsKeepTheForm) {
  QuantisedModel model;
  const auto x = model.input({1, 20, 11, 12}, kShifted);
  const graph::Pool max{graph::PoolKind::kMax, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}};
  const graph::Pool mean{graph::PoolKind::kAverage, {2, 2}, {1, 1}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  const auto pooled = model.make(max, {x}, kShifted);
  model.check(model.make(mean, {pooled}, kShifted));
}

TEST(QuantisedKernels, GlobalMeansHaveAnyForm) {
  for (const Form& x : {kUnsigned, kShifted}) {
    QuantisedModel model;
    const auto image = model.input({2, 37, 5, 7}, x);
    model.check(model.make(graph::GlobalPool{}, {image}, {DataType::kInt8, 1 / 512.0f, -5}));
  }
}

TEST(QuantisedKernels, GlobalMaximum) {
  QuantisedModel model;
  const auto x = model.input({1, 16, 5, 7}, kUnsigned);
  model.check(model.make(graph::GlobalPool{graph::PoolKind::kMax}, {x}, kUnsigned));
}

TEST(QuantisedKernels, BinariesOfOneShape) {
  using graph::BinaryKind;
  for (const auto kind : {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul, BinaryKind::kDiv,
                          BinaryKind::kMin, BinaryKind::kMax}) {
    QuantisedModel model;
    const auto a = model.input({1, 13, 9, 11}, kUnsigned);
    const auto b = model.input({1, 13, 9, 11}, kShifted);
    model.check(model.make(graph::Binary{kind}, {a, b}, kWide));
  }
}

TEST(QuantisedKernels, BinariesBroadcastTheSecondOrTheFirst) {
  for (const Dims& other : {Dims{2, 13, 1, 1}, Dims{1, 13, 1, 1}, Dims{11}, Dims{13, 1, 1}}) {
    for (const bool first : {false, true}) {
      QuantisedModel model;
      const auto a = model.input({2, 13, 9, 11}, kUnsigned);
      const auto b = model.input(other, kShifted);
      const std::vector<ValueId> operands = first ? std::vector{b, a} : std::vector{a, b};
      model.check(model.make(graph::Binary{graph::BinaryKind::kSub}, operands, kWide));
    }
  }
}

TEST(QuantisedKernels, FunctionsOfBytes) {
  for (const graph::Activation function : {graph::Activation{UnaryKind::kSigmoid, 0, 0},
                                           graph::Activation{UnaryKind::kHardSwish, 0, 0},
                                           graph::Activation{UnaryKind::kHardSigmoid, 0.4f, 0.5f},
                                           graph::Activation{UnaryKind::kTanh, 0, 0}}) {
    QuantisedModel model;
    const auto x = model.input({1, 6, 10, 10}, kShifted);
    model.check(model.make(graph::Unary{function}, {x}, kUnsigned));
  }
}

TEST(QuantisedKernels, RequantiseFromBytesToBytes) {
  QuantisedModel model;
  const auto x = model.input({1, 6, 10, 10}, kShifted);
  model.check(model.make(Requantise{}, {x}, {DataType::kUint8, 1 / 16.0f, 3}));
}

TEST(QuantisedKernels, ConcatJoinsFormsBesideEachOther) {
  for (const int64_t axis : {1, 2}) {
    QuantisedModel model;
    const auto a = model.input({1, 16, 6, 6}, kUnsigned);
    const auto b = model.make(conv2d(0, 1, 1), {a, model.weights({16, 16, 1, 1})}, kWide);
    const auto c = model.make(conv2d(1, 1, 1), {a, model.weights({16, 16, 3, 3})}, kShifted);
    const auto joined = model.make(graph::Concat{axis}, {b, c, b}, kWide);
    const auto d = model.make(Requantise{}, {joined}, kWide);
    model.check(d);
  }
}

TEST(QuantisedKernels, ElementsMoveAsTheyAre) {
  using graph::Pad;
  const std::vector<graph::Operator> operators = {
      graph::Reshape{{1, 12, 48}},
      graph::Transpose{{0, 2, 3, 1}},
      graph::Slice{{0, 2, 1, 0}, {1, 4, 3, 4}, {1, 1, 2, 2}},
      Pad{graph::PadMode::kConstant, {0, 0, 1, 2}, {0, 0, 2, 1}, 0.5f},
      Pad{graph::PadMode::kReflect, {0, 0, 1, 2}, {0, 0, 2, 1}, 0},
      graph::Expand{{3, 8, 9, 8}},
      graph::Resize{
          .mode = graph::ResizeMode::kNearest, .shape = {1, 8, 18, 16}, .scales = {1, 1, 2, 2}},
      graph::Resize{.mode = graph::ResizeMode::kLinear,
                    .coordinates = graph::CoordinateMode::kHalfPixel,
                    .shape = {1, 8, 18, 16},
                    .scales = {1, 1, 2, 2}}};
  for (const graph::Operator& op : operators) {
    SCOPED_TRACE(graph::name_of(op));
    QuantisedModel model;
    const auto x = model.input({1, 8, 9, 8}, kShifted);
    // A convolution leaves its channels innermost.
    const auto made = model.make(conv2d(0, 1, 1), {x, model.weights({8, 8, 1, 1})}, kWide);
    model.check(model.make(op, {made}, kWide));
  }
}

TEST(QuantisedKernels, GatherTakesIndicesBesideBytes) {
  QuantisedModel model;
  const auto x = model.input({6, 8}, kShifted);
  const auto indices = model.builder.integers<int64_t>({3}, DataType::kInt64, {4, 0, -1});
  model.check(model.make(graph::Gather{0}, {x, indices}, kShifted));
}

TEST(QuantisedKernels, OtherFormsAreRequantisedByTheBuilder) {
  // No kernel moves bytes into another form; the numbers are right all the same.
  ModelBuilder b;
  const auto x = b.input({4});
  const auto q = b.quantised(Requantise{}, {x}, DataType::kUint8, {{0.25f}, {128}, 0});
  const auto y = b.quantised(graph::Reshape{{2, 2}}, {q}, DataType::kInt8, {{0.5f}, {0}, 0});
  b.output(b.node(Requantise{}, {y}));
  EXPECT_EQ(run_model(b.build(), {{{4}, {0.25f, 0.75f, -1, 3}}}).data,
            (std::vector<float>{0, 1, -1, 3}));
}

TEST(QuantisedKernels, NoReordersBetweenConvolutions) {
  if (!topology().features.avx512_vnni) GTEST_SKIP() << "convolutions are computed in FP32 here";
  QuantisedModel model;
  const auto picture = model.input({1, 3, 16, 16}, kUnsigned);
  const auto a = model.make(conv2d(1, 2, 1), {picture, model.weights({32, 3, 3, 3})}, kWide);
  const auto b = model.make(conv2d(1, 1, 32), {a, model.weights({32, 1, 3, 3})}, kUnsigned);
  const auto c = model.make(conv2d(0, 1, 1), {b, model.weights({32, 32, 1, 1})}, kShifted);
  const auto d =
      model.make(conv2d(0, 1, 1), {c, model.weights({32, 32, 1, 1}), kNoValue, a}, kWide);
  const auto mean = model.make(graph::GlobalPool{}, {d}, kUnsigned);
  const auto row = model.make(graph::Reshape{{1, 32}}, {mean}, kUnsigned);
  const auto y =
      model.make(graph::MatMul{false, true, 1, {}}, {row, model.weights({10, 32})}, kWide);
  model.check(y);
  // One at the most: the HW view of the input is FP32 in blocks.
  for (const StepInfo& step : load(model.builder.build())->info().steps) {
    if (step.operation == "Reorder") {
      EXPECT_EQ(step.output, "input_0") << step.reason;
    }
  }
}

TEST(QuantisedKernels, StepsSayWhetherTheyReadIntegers) {
  QuantisedModel model;
  const auto picture = model.input({1, 3, 16, 16}, kUnsigned);
  const auto a = model.make(conv2d(1, 2, 1), {picture, model.weights({32, 3, 3, 3})}, kWide);
  const auto b = model.make(conv2d(1, 1, 32), {a, model.weights({32, 1, 3, 3})}, kUnsigned);
  const auto c = model.make(conv2d(0, 1, 1), {b, model.weights({64, 32, 1, 1})}, kShifted);
  const auto d = model.make(conv2d(1, 1, 64), {c, model.weights({64, 1, 3, 3})}, kShifted);
  model.check(model.make(graph::GlobalPool{}, {d}, kUnsigned));
  size_t numbers = 0, integers = 0;
  for (const StepInfo& step : load(model.builder.build())->info().steps) {
    SCOPED_TRACE(step.operation + " " + step.implementation);
    if (step.operation == "Quantise") {
      EXPECT_EQ(step.precision, graph::Precision::kFp32);
      ++numbers;
    } else if (step.operation == "Dequantise" ||
               (step.operation != "Reorder" && topology().features.avx512_vnni)) {
      EXPECT_EQ(step.precision, std::nullopt);
      ++integers;
    }
  }
  EXPECT_GT(numbers, 0u);
  EXPECT_GT(integers, 0u);
}

// Mobile networks are made of these layers. Without a zero point and with all bytes in bounds there
// is less to do for a byte.
TEST(QuantisedKernels, AConvolutionOfOnePixelIsOneStepWithTheDepthwiseOneBehindIt) {
  for (const Form& between : {kPositive, kWide, kShifted})
    for (const int64_t stride : {1, 2}) {
      QuantisedModel model;
      const auto x = model.input({2, 16, 15, 13}, kUnsigned);
      const auto wide = model.make(conv2d(0, 1, 1, kClip),
                                   {x, model.weights({80, 16, 1, 1}), model.bias(80)}, between);
      // An element between may be rounded otherwise by numbers, which few steps come of.
      model.check(model.make(conv2d(1, stride, 80, kClip),
                             {wide, model.weights({80, 1, 3, 3}), model.bias(80)}, kPositive),
                  2);
      if (topology().features.avx512_vnni) {
        EXPECT_THAT(implementations(*load(model.builder.build())),
                    Contains("Conv millrace:separable"));
      }
    }
}

// A convolution that the device's loops compute, and one of so few of its channels that the library
// does.
struct LoopsCase {
  const char* name;
  bool is_depthwise;
  int64_t channels, few;
  Form x, y;
  graph::Activation activation;
  bool integral_bias;                      // in steps of the sums
  std::optional<Form> sum = std::nullopt;  // with another operand of this form
};

class LoopsBesideLibrary : public ::testing::TestWithParam<LoopsCase> {
 protected:
  static constexpr int64_t kIn = 24, kHeight = 9, kWidth = 11;
  const LoopsCase& c() const { return GetParam(); }

  // The model of the `count` filters from `first` on.
  std::shared_ptr<const graph::CompiledModel> model(int64_t first, int64_t count) const {
    ModelBuilder builder;
    const auto x = builder.quantised(
        Requantise{}, {builder.input({1, c().is_depthwise ? count : kIn, kHeight, kWidth})},
        c().x.type, c().x.quantisation());
    const int64_t taps = c().is_depthwise ? 9 : kIn;
    const Tensor numbers = Tensor::numbers({c().channels, taps}, 77);
    std::vector<int8_t> elements;
    for (int64_t i = first * taps; i < (first + count) * taps; ++i)
      elements.push_back(static_cast<int8_t>(numbers.data[static_cast<size_t>(i)] * 127));
    graph::Quantisation scales{{}, std::vector<int32_t>(static_cast<size_t>(count), 0), 0};
    Tensor bias{{count}, {}};
    for (int64_t i = first; i < first + count; ++i) {
      scales.scales.push_back(static_cast<float>(i % 3 + 1) / 700);
      const float steps = static_cast<float>(i * 37 - 900) + (c().integral_bias ? 0 : 0.3F);
      bias.data.push_back(steps * (scales.scales.back() * c().x.scale));
    }
    const graph::Dims dims =
        c().is_depthwise ? graph::Dims{count, 1, 3, 3} : graph::Dims{count, kIn, 1, 1};
    const auto weight = builder.quantised_constant(dims, DataType::kInt8, elements, scales);
    const graph::Conv conv =
        conv2d(c().is_depthwise ? 1 : 0, 1, c().is_depthwise ? count : 1, c().activation);
    const auto y = builder.quantised(conv, {x, weight, builder.constant(bias)}, c().y.type,
                                     c().y.quantisation());
    builder.output(builder.node(Requantise{}, {c().sum ? sum(builder, y, count) : y}));
    return builder.build();
  }

  graph::ValueId sum(ModelBuilder& builder, graph::ValueId y, int64_t count) const {
    const auto other = builder.quantised(Requantise{}, {builder.input({1, count, kHeight, kWidth})},
                                         c().sum->type, c().sum->quantisation());
    return builder.quantised(graph::Binary{graph::BinaryKind::kAdd}, {y, other}, c().sum->type,
                             c().sum->quantisation());
  }

  // The part of the image of all filters that the model of these filters reads.
  Tensor image(int64_t first, int64_t count) const {
    if (!c().is_depthwise) return Tensor::numbers({1, kIn, kHeight, kWidth}, 5);
    return channels_of(Tensor::numbers({1, c().channels, kHeight, kWidth}, 5), first, count);
  }

  static Tensor channels_of(const Tensor& all, int64_t first, int64_t count) {
    constexpr int64_t kPlane = kHeight * kWidth;
    const auto begin = all.data.begin() + first * kPlane;
    return {{1, count, kHeight, kWidth}, {begin, begin + count * kPlane}};
  }

  std::vector<float> result(int64_t first, int64_t count) const {
    std::vector<Tensor> operands = {image(first, count)};
    if (c().sum)
      operands.push_back(
          channels_of(Tensor::numbers({1, c().channels, kHeight, kWidth}, 6), first, count));
    return run_model(model(first, count), operands).data;
  }
};

TEST_P(LoopsBesideLibrary, GiveTheSameBytes) {
  if (!topology().features.avx512_vnni) GTEST_SKIP() << "convolutions are computed in FP32 here";
  EXPECT_THAT(implementations(*load(model(0, c().channels))), Contains(HasSubstr("millrace:")));
  EXPECT_THAT(implementations(*load(model(0, c().few))), Each(Not(HasSubstr("millrace:"))));
  std::vector<float> expected;
  for (int64_t first = 0; first < c().channels; first += c().few) {
    const std::vector<float> some = result(first, c().few);
    expected.insert(expected.end(), some.begin(), some.end());
  }
  const std::vector<float> actual = result(0, c().channels);
  if (kScalesSumsOnce) {
    EXPECT_EQ(actual, expected);
  } else {
    EXPECT_THAT(actual, Pointwise(FloatNear(1.001F * c().y.scale), expected));
  }
}

INSTANTIATE_TEST_SUITE_P(
    , LoopsBesideLibrary,
    ::testing::Values(
        LoopsCase{"pointwise", false, 96, 32, kUnsigned, kWide, {}, false},
        LoopsCase{"pointwise_only_scaled", false, 96, 48, kPositive, kPositive, kClip, true},
        LoopsCase{"pointwise_integral_bias", false, 128, 32, kUnsigned, kShifted, {}, true},
        LoopsCase{"pointwise_signed", false, 64, 32, kShifted, kSigned, {}, false},
        LoopsCase{"pointwise_sum", false, 128, 32, kUnsigned, kWide, {}, false, kUnsigned},
        LoopsCase{"pointwise_sum_only_scaled", false, 64, 32, kPositive, kPositive, kClip, true,
                  kPositive},
        LoopsCase{"pointwise_sum_signed", false, 64, 32, kShifted, kSigned, {}, true, kShifted},
        LoopsCase{"depthwise", true, 128, 8, kUnsigned, kWide, {}, false},
        LoopsCase{"depthwise_only_scaled", true, 64, 8, kPositive, kPositive, kClip, true},
        LoopsCase{"depthwise_in_planes", true, 80, 40, kWide, kShifted, kClip, false},
        LoopsCase{"depthwise_signed", true, 48, 24, kShifted, kSigned, {}, true}),
    [](const auto& info) { return info.param.name; });

TEST(QuantisedKernels, AConvolutionOfOnePixelThatIsReadAgainIsAStepOfItsOwn) {
  QuantisedModel model;
  const auto x = model.input({1, 16, 15, 13}, kUnsigned);
  const auto wide = model.make(conv2d(0, 1, 1), {x, model.weights({80, 16, 1, 1})}, kWide);
  const auto deep = model.make(conv2d(1, 1, 80), {wide, model.weights({80, 1, 3, 3})}, kWide);
  model.check(model.make(graph::Binary{graph::BinaryKind::kAdd}, {deep, wide}, kWide), 2);
  EXPECT_THAT(implementations(*load(model.builder.build())),
              Not(Contains("Conv millrace:separable")));
}

// The loops read filters again and again.
TEST(QuantisedKernels, AConvolutionOfOnePixelWithLargeFiltersIsLeftToTheLibrary) {
  if (!topology().features.avx512_vnni) GTEST_SKIP() << "convolutions are computed in FP32 here";
  constexpr int64_t kIn = 512, kMost = 1024;
  for (const int64_t out : {kMost, kMost + 64}) {
    QuantisedModel model;
    const auto x = model.input({1, kIn, 3, 3}, kUnsigned);
    const auto y = model.make(conv2d(0, 1, 1), {x, model.weights({out, kIn, 1, 1})}, kWide);
    // With oneDNN 3.x the first is computed in FP32.
    if (!kDescribesEveryConvolution && out == kMost) {
      model.check_numbers(y);
      continue;
    }
    model.check(y);
    EXPECT_THAT(implementations(*load(model.builder.build())),
                Contains("Conv millrace:pointwise").Times(out == kMost ? 1 : 0));
  }
}

// Only a processor with AMX has a choice: the library would use it here, which takes longer.
TEST(QuantisedKernels, AConvolutionOfFewProductsUsesNoMatrixInstructions) {
  QuantisedModel model;
  const auto x = model.input({1, 16, 8, 8}, kUnsigned);
  model.check(model.make(conv2d(0, 1, 1), {x, model.weights({32, 16, 1, 1})}, kWide));
  EXPECT_THAT(implementations(*load(model.builder.build())), Each(Not(HasSubstr("amx"))));
}

// A convolution between bytes of the caller: of a picture of three channels, which fill no block,
// and of 16, which fill one.
class BytesOfCallers : public ::testing::TestWithParam<int64_t> {};

TEST_P(BytesOfCallers, AreReadAndWrittenWhereTheyAre) {
  const int64_t channels = GetParam();
  const auto build = [&](bool hw_bytes) {
    ModelBuilder b;
    const auto x = b.input({1, channels, 8, 6});
    const auto q = b.quantised(Requantise{}, {x}, kShifted.type, kShifted.quantisation());
    const auto count = static_cast<size_t>(16 * channels);
    std::vector<int8_t> elements(count);
    for (size_t i = 0; i < count; ++i) elements[i] = static_cast<int8_t>(i * 37);
    const auto weight = b.quantised_constant<int8_t>({16, channels, 1, 1}, DataType::kInt8,
                                                     elements, {{1 / 256.0f}, {0}, 0});
    const auto y = b.quantised(conv2d(0, 1, 1), {q, weight}, kWide.type, kWide.quantisation());
    b.output(b.node(Requantise{}, {y}));
    if (hw_bytes) {
      b.set_hw_bytes(Direction::kInput, 0, kShifted.type, {kShifted.scale, kShifted.zero_point});
      b.set_hw_bytes(Direction::kOutput, 0, kWide.type, {kWide.scale, kWide.zero_point});
    }
    return b.build();
  };
  const Tensor input = Tensor::numbers({1, channels, 8, 6}, 3);
  const auto program = load(build(true));
  EXPECT_EQ(run(*program, {input})[0].data, run_model(build(false), {input}).data);
  if (!topology().features.avx512_vnni) return;
  for (const char* step : {"Convert", "Quantise", "Dequantise"})
    EXPECT_EQ(count_steps(*program, step), 0u) << step;
}
INSTANTIATE_TEST_SUITE_P(, BytesOfCallers, ::testing::Values(3, 16));

}  // namespace
}  // namespace millrace::device::cpu
