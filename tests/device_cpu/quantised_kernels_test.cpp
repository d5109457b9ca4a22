// Kernels on integers: they give what dequantising, computing and quantising give, up to one step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/topology.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Quantisation;
using graph::Requantise;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;

// What quantised values are stored as.
struct Form {
  DataType type = DataType::kUint8;
  float scale = 1 / 64.0f;
  int32_t zero_point = 0;
  Quantisation quantisation() const { return {{scale}, {zero_point}, 0}; }
};

// A model between one Requantise from FP32 and one to FP32.
class QuantisedModel {
 public:
  ValueId input(const Dims& dims, const Form& form) {
    inputs_.push_back(Tensor::numbers(dims, static_cast<uint32_t>(inputs_.size()) + 1));
    return builder.quantised(Requantise{}, {builder.input(dims)}, form.type, form.quantisation());
  }
  ValueId make(graph::Operator op, std::vector<ValueId> inputs, const Form& form) {
    step_ = form.scale;
    return builder.quantised(std::move(op), std::move(inputs), form.type, form.quantisation());
  }
  ValueId weights(const Dims& dims, DataType type = DataType::kInt8, int32_t zero_point = 0) {
    Quantisation quantisation;
    const auto channels = static_cast<size_t>(dims[0]);
    for (size_t i = 0; i < channels; ++i)
      quantisation.scales.push_back(static_cast<float>(i % 3 + 1) / 512);
    quantisation.zero_points.assign(channels, zero_point);
    std::vector<int8_t> elements;
    for (const float number : Tensor::numbers(dims, 77).data)
      elements.push_back(static_cast<int8_t>(static_cast<int>(number * 127) + zero_point));
    return builder.quantised_constant(dims, type, elements, quantisation);
  }
  ValueId bias(int64_t channels) { return builder.constant(Tensor::numbers({channels}, 99)); }

  // Runs it by integers and by numbers. `steps` counts the two of each input and output.
  void check(ValueId result) {
    builder.output(builder.node(Requantise{}, {result}));
    const auto model = builder.build();
    const auto by_integers = load(model);
    setenv("MILLRACE_NO_VNNI", "1", 1);
    const auto by_numbers = load(model);
    unsetenv("MILLRACE_NO_VNNI");
    const Tensor actual = run(*by_integers, inputs_)[0], expected = run(*by_numbers, inputs_)[0];
    ASSERT_EQ(actual.data.size(), expected.data.size());
    for (size_t i = 0; i < actual.data.size(); ++i)
      ASSERT_LE(std::fabs(actual.data[i] - expected.data[i]), step_ * 1.001f) << "element " << i;
    EXPECT_NE(*std::ranges::min_element(actual.data), *std::ranges::max_element(actual.data));
    if (!topology().features.avx512_vnni) return;
    EXPECT_EQ(count_steps(*by_integers, "Quantise"), inputs_.size());
    EXPECT_EQ(count_steps(*by_integers, "Dequantise"), 1u);
  }

  ModelBuilder builder;

 private:
  std::vector<Tensor> inputs_;
  float step_ = 1;
};

constexpr Form kUnsigned{DataType::kUint8, 1 / 128.0f, 128};
constexpr Form kSigned{DataType::kInt8, 1 / 64.0f, 0};
constexpr Form kShifted{DataType::kInt8, 1 / 96.0f, -17};
constexpr Form kWide{DataType::kUint8, 1 / 32.0f, 113};

graph::Conv conv2d(int64_t pad, int64_t stride, int64_t group, graph::Activation activation = {}) {
  return {{stride, stride}, {1, 1}, {pad, pad}, {pad, pad}, group, activation};
}

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
  model.check(model.make(conv2d(c.kernel / 2, c.stride, c.group, c.activation),
                         {x, weight, model.bias(c.filters)}, c.y));
}

INSTANTIATE_TEST_SUITE_P(
    , QuantisedConv,
    ::testing::Values(
        ConvCase{"dense", kUnsigned, kWide, 32, 48, 1, 3, 1, {}},
        ConvCase{"pointwise", kSigned, kShifted, 16, 24, 1, 1, 1, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"few_channels", kShifted, kUnsigned, 3, 32, 1, 3, 2, {UnaryKind::kRelu, 0, 0}},
        ConvCase{"odd_channels", kUnsigned, kSigned, 7, 9, 1, 3, 1, {}},
        ConvCase{"grouped", kSigned, kWide, 32, 64, 4, 3, 1, {UnaryKind::kClip, 0, 1.5f}},
        ConvCase{"depthwise", kUnsigned, kWide, 40, 40, 40, 3, 1, {UnaryKind::kClip, 0, 1.5f}},
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

}  // namespace
}  // namespace millrace::device::cpu
