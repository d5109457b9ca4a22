// NaN and infinities through functions that are fused into convolutions and matrix products.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/process/topology.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/special_values/special_values.h"

namespace millrace::device::cpu {
namespace {

using graph::Activation;
using graph::Dims;
using graph::kNoValue;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;

constexpr int64_t kChannelsOfHalfATile = 16;

// Convolutions of every form with each function that has bounds, and some other functions.
struct ConvCase {
  const char* name;
  Dims x;
  int64_t filters;
  Dims kernel;
  graph::Conv op;
};

const std::vector<ConvCase>& conv_cases() {
  const Dims one = {1, 1}, none = {0, 0}, two = {2, 2};
  static const std::vector<ConvCase> kCases = {
      {"FirstLayer", {1, 3, 18, 17}, 16, {3, 3}, {two, one, none, one, 1, {}}},
      {"Pointwise", {1, 32, 7, 9}, 48, {1, 1}, {one, one, none, none, 1, {}}},
      {"Square", {1, 32, 9, 9}, 32, {3, 3}, {one, one, one, one, 1, {}}},
      {"OddChannels", {1, 10, 8, 8}, 21, {3, 3}, {one, one, one, one, 1, {}}},
      {"OneChannel", {1, 1, 19, 41}, 1, {3, 3}, {one, one, one, one, 1, {}}},
      {"FiveChannels", {1, 5, 12, 11}, 24, {3, 3}, {two, one, one, one, 1, {}}},
      {"Depthwise", {1, 32, 10, 10}, 32, {3, 3}, {two, one, one, one, 32, {}}},
      {"Grouped", {1, 32, 8, 8}, 64, {3, 3}, {one, one, one, one, 2, {}}},
      {"Winograd", {1, 64, 28, 28}, 64, {3, 3}, {one, one, one, one, 1, {}}},
      {"Line", {1, 16, 30}, 32, {5}, {{2}, {1}, {2}, {2}, 1, {}}},
      {"Volume",
       {1, 16, 5, 6, 7},
       16,
       {3, 3, 3},
       {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1, {}}},
  };
  return kCases;
}

const std::vector<Activation>& fused_functions() {
  static const std::vector<Activation> kFunctions = {{UnaryKind::kRelu, 0, 0},
                                                     {UnaryKind::kClip, 0, 6},
                                                     {UnaryKind::kClip, 1, 2},
                                                     {UnaryKind::kSigmoid, 0, 0},
                                                     {UnaryKind::kHardSigmoid, 0.2f, 0.5f},
                                                     {UnaryKind::kHardSwish, 0, 0},
                                                     {UnaryKind::kSwish, 0, 0},
                                                     {UnaryKind::kLeakyRelu, 0.1f, 0},
                                                     {UnaryKind::kLeakyRelu, 0, 0},
                                                     {UnaryKind::kElu, 1, 0},
                                                     {UnaryKind::kTanh, 0, 0},
                                                     {UnaryKind::kGelu, 0, 0},
                                                     {UnaryKind::kExp, 0, 0},
                                                     {UnaryKind::kSoftplus, 0, 0}};
  return kFunctions;
}

// Returns whether the window of result `y` in one dimension contains the element `x`.
bool sees(const graph::Conv& op, const Dims& kernel, size_t d, int64_t y, int64_t x) {
  const int64_t first = y * op.strides[d] - op.pads_begin[d];
  return x >= first && x < first + kernel[d];
}

class FusedFunction : public ::testing::TestWithParam<std::tuple<size_t, Precision>> {
 protected:
  const ConvCase& test() const { return conv_cases()[std::get<0>(GetParam())]; }
  Precision precision() const { return std::get<1>(GetParam()); }

  // Runs with or without a residual, and with values that become NaN.
  Tensor run_with(const Activation& function, const Tensor& x, const Tensor* residual) const {
    Dims weights = {test().filters, test().x[1] / test().op.group};
    weights.insert(weights.end(), test().kernel.begin(), test().kernel.end());
    graph::Conv op = test().op;
    op.activation = function;
    ModelBuilder builder(precision());
    const ValueId image = builder.input(x.dims), w = builder.constant(Tensor::numbers(weights, 2)),
                  bias = builder.constant(Tensor::numbers({test().filters}, 3));
    std::vector<Tensor> inputs = {x};
    std::vector<ValueId> operands = {image, w, bias};
    if (residual != nullptr) {
      // The memory belongs to the program, so that the convolution adds in place.
      const ValueId given = builder.input(residual->dims);
      operands.push_back(builder.node(graph::Unary{{UnaryKind::kLinear, 0.5f, 0}}, {given}));
      inputs.push_back(*residual);
    }
    builder.output(builder.node(op, operands));
    return run_model(builder.build(), inputs);
  }

  // Winograd's algorithm computes several results together. With AMX, oneDNN multiplies the pixels
  // behind a window by 0 where channels do not fill a tile.
  bool may_spread(const Dims& y, const Dims& at) const {
    if (precision() == Precision::kBf16 && topology().features.amx_bf16 &&
        test().x[1] / test().op.group <= kChannelsOfHalfATile)
      return y.back() * test().op.strides.back() < at.back();
    if (std::string(test().name) != "Winograd" && std::string(test().name) != "Square" &&
        std::string(test().name) != "OddChannels")
      return false;
    return std::abs(y[2] - at[2]) <= 4 && std::abs(y[3] - at[3]) <= 4;
  }
};

INSTANTIATE_TEST_SUITE_P(All, FusedFunction,
                         ::testing::Combine(::testing::Range(size_t{0}, conv_cases().size()),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return std::string(conv_cases()[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

TEST_P(FusedFunction, KeepsANanOfTheImage) {
  Dims at = test().x;
  for (int64_t& index : at) index = std::max<int64_t>(0, index - 2);
  at[0] = 0;
  const Tensor x = image_with(test().x, at, kNan);
  for (const Activation& function : fused_functions()) {
    SCOPED_TRACE(name_of(function.kind));
    const Tensor y = run_with(function, x, nullptr);
    const int64_t per_group = test().filters / test().op.group;
    const int64_t group = at[1] / (test().x[1] / test().op.group);
    for_each_index(y.dims, [&](const Dims& i) {
      bool is_under = i[1] / per_group == group;
      for (size_t d = 0; d < test().kernel.size(); ++d)
        is_under = is_under && sees(test().op, test().kernel, d, i[d + 2], at[d + 2]);
      if (!is_under && may_spread(i, at)) return;
      ASSERT_EQ(class_of(y.at(i)), is_under ? "NaN" : "finite") << ::testing::PrintToString(i);
    });
  }
}

TEST_P(FusedFunction, KeepsANanOfTheResidual) {
  const Tensor x = Tensor::numbers(test().x, 1);
  const Tensor plain = run_with({}, x, nullptr);
  for (const Activation& function : fused_functions())
    for (const bool also_in_image : {false, true}) {
      SCOPED_TRACE(name_of(function.kind));
      Tensor residual = Tensor::numbers(plain.dims, 4), image = x;
      residual.data[residual.data.size() / 2] = kNan;
      residual.data.back() = kNan;
      if (also_in_image) image.data[0] = kNan;
      const Tensor y = run_with(function, image, &residual);
      EXPECT_TRUE(std::isnan(y.data[y.data.size() / 2]));
      EXPECT_TRUE(std::isnan(y.data.back()));
      const auto nans = std::ranges::count_if(y.data, [](float v) { return std::isnan(v); });
      EXPECT_GE(nans, also_in_image ? 3 : 2);
      if (!also_in_image) {
        EXPECT_EQ(nans, 2);
      }
      // All other elements must be the same as without a NaN.
      Tensor without = residual;
      without.data[residual.data.size() / 2] = without.data.back() = 0;
      const Tensor expected = run_with(function, x, &without);
      for (size_t i = 0; i < y.data.size(); ++i)
        if (!std::isnan(y.data[i])) {
          ASSERT_EQ(y.data[i], expected.data[i]) << "element " << i;
        }
    }
}

TEST_P(FusedFunction, HasTheLimitsOfInfinities) {
  // Only the residual makes results infinite: in a convolution inf and -inf would meet.
  const Tensor x = Tensor::numbers(test().x, 1);
  const Tensor plain = run_with({}, x, nullptr);
  for (const Activation& function : fused_functions()) {
    SCOPED_TRACE(name_of(function.kind));
    Tensor residual = Tensor::numbers(plain.dims, 4);
    residual.data.front() = kInf;
    residual.data.back() = -kInf;
    const Tensor y = run_with(function, x, &residual);
    EXPECT_EQ(class_of(y.data.front()), class_of(reference_unary(function, kInf)));
    EXPECT_EQ(class_of(y.data.back()), class_of(reference_unary(function, -kInf)));
  }
}

TEST(FusedFunctionOfAProduct, KeepsNan) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16})
    for (const bool is_constant : {false, true})
      for (const float alpha : {1.0f, 0.5f})
        for (const bool has_bias : {false, true})
          for (const Activation& function : fused_functions()) {
            SCOPED_TRACE(name_of(function.kind));
            Tensor a = Tensor::numbers({7, 40}, 1);
            const Tensor b = Tensor::numbers({40, 37}, 2);
            a.at({0, 0}) = kNan;
            a.at({6, 39}) = kNan;
            ModelBuilder builder(precision);
            std::vector<Tensor> inputs = {a};
            const ValueId x = builder.input(a.dims);
            const ValueId w = is_constant ? builder.constant(b) : builder.input(b.dims);
            if (!is_constant) inputs.push_back(b);
            std::vector<ValueId> operands = {x, w};
            if (has_bias) operands.push_back(builder.constant(Tensor::numbers({37}, 3)));
            builder.output(builder.node(graph::MatMul{false, false, alpha, function}, operands));
            const Tensor y = run_model(builder.build(), inputs);
            for_each_index(y.dims, [&](const Dims& at) {
              ASSERT_EQ(class_of(y.at(at)), at[0] == 0 || at[0] == 6 ? "NaN" : "finite")
                  << ::testing::PrintToString(at);
            });
          }
}

// A pointwise convolution followed by a depthwise one, which may be one step.
TEST(FusedFunctionOfAPair, KeepsNan) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16})
    for (const Activation& function :
         {Activation{UnaryKind::kRelu, 0, 0}, Activation{UnaryKind::kClip, 0, 6}}) {
      const Tensor x = image_with({1, 16, 64, 64}, {0, 3, 30, 31}, kNan);
      ModelBuilder builder(precision);
      graph::Conv first{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, function};
      graph::Conv second{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 96, function};
      const ValueId between = builder.node(
          first, {builder.input(x.dims), builder.constant(Tensor::numbers({96, 16, 1, 1}, 2))});
      builder.output(
          builder.node(second, {between, builder.constant(Tensor::numbers({96, 1, 3, 3}, 3))}));
      const Tensor y = run_model(builder.build(), {x});
      for_each_index(y.dims, [&](const Dims& at) {
        const bool is_under = std::abs(at[2] - 30) <= 1 && std::abs(at[3] - 31) <= 1;
        ASSERT_EQ(class_of(y.at(at)), is_under ? "NaN" : "finite") << ::testing::PrintToString(at);
      });
    }
}

// A frame with a NaN has no effect on the next frame.
TEST(SpecialValuesOfAFrame, EndWithIt) {
  const Tensor x = Tensor::numbers({1, 16, 8, 8}, 1);
  ModelBuilder builder;
  graph::Conv op{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {UnaryKind::kRelu, 0, 0}};
  const ValueId first = builder.node(
      op, {builder.input(x.dims), builder.constant(Tensor::numbers({16, 16, 1, 1}, 2))});
  builder.output(builder.node(
      op, {first, builder.constant(Tensor::numbers({16, 16, 1, 1}, 3)), kNoValue, first}));
  const auto program = load(builder.build());
  const Tensor before = run(*program, {x}).at(0);
  const Tensor with_nan = run(*program, {image_with(x.dims, {0, 1, 2, 3}, kNan)}).at(0);
  EXPECT_EQ(std::ranges::count_if(with_nan.data, [](float v) { return std::isnan(v); }), 16);
  EXPECT_EQ(run(*program, {x}).at(0).data, before.data);
}

}  // namespace
}  // namespace millrace::device::cpu
