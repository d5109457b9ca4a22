// Passes NaN, infinities, denormal numbers and zeros of either sign through the operators of the
// graph. Each element of a result must be NaN, infinite or finite as IEEE 754 and the definition of
// the operator require. The expectations are scalar functions of the C++ library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::Dims;
using graph::kNoValue;
using graph::PartitionKind;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kDenormal = 1e-40f;
constexpr float kLargest = 3e38f;

// Returns the property of an element that is compared.
std::string class_of(float x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return "finite";
}

void expect_classes(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  for (size_t i = 0; i < expected.data.size(); ++i)
    ASSERT_EQ(class_of(actual.data[i]), class_of(expected.data[i]))
        << "element " << i << ": " << actual.data[i] << " instead of " << expected.data[i];
}

void expect_signs_of_zeros(const Tensor& actual, const Tensor& expected) {
  for (size_t i = 0; i < expected.data.size(); ++i)
    if (expected.data[i] == 0 && actual.data[i] == 0)
      ASSERT_EQ(std::signbit(actual.data[i]), std::signbit(expected.data[i])) << "element " << i;
}

const std::vector<float>& special_values() {
  static const std::vector<float> kValues = {kNan,      kInf,       -kInf, -0.0f, 0.0f,
                                             kDenormal, -kDenormal, 1,     -1,    kLargest,
                                             -kLargest, 0.5f,       -2,    -kNan};
  return kValues;
}

// Every value occurs at every place of vectors of 16, and in the elements after the last vector.
Tensor special_tensor(const Dims& dims, size_t first = 0) {
  Tensor x = Tensor::zeros(dims);
  const auto& values = special_values();
  for (size_t i = 0; i < x.data.size(); ++i)
    x.data[i] = values[(first + i + i / values.size()) % values.size()];
  return x;
}

enum class Place { kNpu, kNpuBf16, kCpu };

// The image comes from a convolution in channel blocks with padding, or directly from the caller.
enum class Origin { kPlain, kBlocked };

class SpecialValues : public ::testing::TestWithParam<std::tuple<Place, Origin>> {
 protected:
  Place place() const { return std::get<0>(GetParam()); }
  Precision precision() const {
    return place() == Place::kNpuBf16 ? Precision::kBf16 : Precision::kFp32;
  }
  ModelBuilder new_model() const {
    ModelBuilder builder(precision());
    return builder;
  }
  // The nodes that are added after this call are tested.
  void begin(ModelBuilder& builder) const {
    if (place() == Place::kCpu) builder.begin_partition(PartitionKind::kCpu);
  }
  // A convolution would turn infinities to NaN, so values are added to a convolution of zeros.
  ValueId add_value(ModelBuilder& builder, const Dims& dims) const {
    const ValueId x = builder.input(dims);
    if (std::get<1>(GetParam()) == Origin::kPlain || dims.size() != 4) return x;
    if (place() == Place::kCpu) builder.begin_partition(PartitionKind::kNpu);
    const Tensor zeros = Tensor::zeros({dims[1], dims[1], 1, 1});
    const ValueId nothing = builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                                         {builder.input(dims), builder.constant(zeros)});
    return builder.node(graph::Binary{BinaryKind::kAdd}, {nothing, x});
  }
  // Runs a model on `inputs`. Where add_value() has made inputs for convolutions, these are zeros.
  Tensor run(ModelBuilder& builder, ValueId result, std::vector<Tensor> inputs) const {
    builder.output(result);
    const auto model = builder.build();
    const auto count = model->inputs.size();
    if (count > inputs.size()) {
      // Inputs of add_value() come in pairs: the value, and then the input of the convolution.
      std::vector<Tensor> all;
      for (Tensor& input : inputs) {
        Tensor zeros = Tensor::zeros(input.dims);
        all.push_back(std::move(input));
        all.push_back(std::move(zeros));
      }
      all.resize(count);
      inputs = std::move(all);
    }
    return run_model(model, inputs);
  }
};

INSTANTIATE_TEST_SUITE_P(All, SpecialValues,
                         ::testing::Combine(::testing::Values(Place::kNpu, Place::kNpuBf16,
                                                              Place::kCpu),
                                            ::testing::Values(Origin::kPlain, Origin::kBlocked)),
                         [](const auto& info) {
                           const char* const places[] = {"Npu", "NpuBf16", "Cpu"};
                           return std::string(places[static_cast<int>(std::get<0>(info.param))]) +
                                  (std::get<1>(info.param) == Origin::kPlain ? "Plain" : "Blocked");
                         });

float expected_unary(const Activation& function, float x) {
  const float a = function.alpha, b = function.beta;
  const auto clamp = [](float v, float low, float high) {
    return std::isnan(v) ? v : std::fmin(std::fmax(v, low), high);
  };
  switch (function.kind) {
    case UnaryKind::kIdentity:
      return x;
    case UnaryKind::kRelu:
      return clamp(x, 0, kInf);
    case UnaryKind::kClip:
      return clamp(x, a, b);
    case UnaryKind::kLeakyRelu:
      return x < 0 ? a * x : x;
    case UnaryKind::kElu:
      return x < 0 ? a * std::expm1(x) : x;
    case UnaryKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryKind::kTanh:
      return std::tanh(x);
    case UnaryKind::kHardSigmoid:
      return clamp(a * x + b, 0, 1);
    case UnaryKind::kHardSwish:
      return x * clamp(x / 6 + 0.5f, 0, 1);
    case UnaryKind::kSwish:
      return x * (1 / (1 + std::exp(-x)));
    case UnaryKind::kGelu:
      return 0.5f * x * (1 + std::erf(x / std::sqrt(2.0f)));
    case UnaryKind::kExp:
      return std::exp(x);
    case UnaryKind::kLog:
      return std::log(x);
    case UnaryKind::kSqrt:
      return std::sqrt(x);
    case UnaryKind::kAbs:
      return std::fabs(x);
    case UnaryKind::kNeg:
      return -x;
    case UnaryKind::kErf:
      return std::erf(x);
    case UnaryKind::kRound:
      return std::nearbyint(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kReciprocal:
      return 1 / x;
    case UnaryKind::kSoftplus:
      return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryKind::kPow:
      return std::pow(x, a);
    case UnaryKind::kLinear:
      return a * x + b;
  }
  return x;
}

// Returns whether zeros keep the sign of the operand, or get the opposite one.
bool keeps_sign_of_zero(UnaryKind kind) {
  return kind == UnaryKind::kIdentity || kind == UnaryKind::kAbs || kind == UnaryKind::kNeg ||
         kind == UnaryKind::kSqrt || kind == UnaryKind::kRound || kind == UnaryKind::kFloor ||
         kind == UnaryKind::kCeil;
}

std::vector<Activation> all_functions() {
  std::vector<Activation> functions;
  for (int kind = 0; kind < graph::kUnaryKindCount; ++kind)
    functions.push_back({static_cast<UnaryKind>(kind), 0.25f, 0.5f});
  functions.push_back({UnaryKind::kClip, 0, 6});
  functions.push_back({UnaryKind::kClip, -1, kInf});
  functions.push_back({UnaryKind::kClip, -kInf, 1});
  functions.push_back({UnaryKind::kClip, 1, 2});
  for (const float exponent : {2.0f, 3.0f, -1.0f, 0.0f})
    functions.push_back({UnaryKind::kPow, exponent, 0});
  return functions;
}

// BF16 has fewer denormal numbers and no instructions for them, so results of these are left out.
Tensor without_denormals(Tensor x) {
  for (float& value : x.data)
    if (std::fpclassify(value) == FP_SUBNORMAL) value = std::copysign(0.25f, value);
  return x;
}

TEST_P(SpecialValues, EveryUnaryFunction) {
  for (const Activation& function : all_functions())
    for (const size_t first : {0u, 5u}) {
      SCOPED_TRACE(std::string(name_of(function.kind)) + " " + std::to_string(function.alpha));
      Tensor x = special_tensor({1, 21, 5, 7}, first);
      if (place() == Place::kNpuBf16) x = without_denormals(std::move(x));
      ModelBuilder builder = new_model();
      const ValueId value = add_value(builder, x.dims);
      begin(builder);
      const ValueId y = builder.node(graph::Unary{function}, {value});
      const Tensor actual = run(builder, y, {x});
      const Tensor expected = map(x, [&](float v) { return expected_unary(function, v); });
      expect_classes(actual, expected);
      if (keeps_sign_of_zero(function.kind) && std::get<1>(GetParam()) == Origin::kPlain)
        expect_signs_of_zeros(actual, expected);
    }
}

float expected_binary(BinaryKind kind, float a, float b) {
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    case BinaryKind::kDiv:
      return a / b;
    case BinaryKind::kPow:
      return std::pow(a, b);
    case BinaryKind::kMin:
      return is_nan ? kNan : std::fmin(a, b);
    case BinaryKind::kMax:
      return is_nan ? kNan : std::fmax(a, b);
    case BinaryKind::kPrelu:
      return a < 0 ? a * b : a;
  }
  return 0;
}

Tensor expected_binary(BinaryKind kind, const Tensor& a, const Tensor& b, const Dims& dims) {
  Tensor result = Tensor::zeros(dims);
  for_each_index(dims, [&](const Dims& at) {
    result.at(at) = expected_binary(kind, broadcast_at(a, at), broadcast_at(b, at));
  });
  return result;
}

// Slopes are finite: the standard does not say what happens to a slope that is not used.
Tensor second_operand(BinaryKind kind, const Dims& dims) {
  Tensor b = special_tensor(dims, 3);
  for (float& value : b.data)
    if (kind == BinaryKind::kPrelu && !std::isfinite(value)) value = 0.5f;
  return b;
}

TEST_P(SpecialValues, EveryBinaryFunction) {
  const Dims full = {1, 21, 4, 6};
  for (int number = 0; number < graph::kBinaryKindCount; ++number)
    for (const Dims& other : {full, Dims{1, 21, 1, 1}, Dims{1}, Dims{6}})
      for (const bool swapped : {false, true}) {
        const auto kind = static_cast<BinaryKind>(number);
        if (swapped && kind == BinaryKind::kPrelu) continue;
        SCOPED_TRACE(std::string(name_of(kind)) + " " + ::testing::PrintToString(other) +
                     (swapped ? " swapped" : ""));
        Tensor a = special_tensor(full), b = second_operand(kind, other);
        if (place() == Place::kNpuBf16) {
          a = without_denormals(std::move(a));
          b = without_denormals(std::move(b));
        }
        ModelBuilder builder = new_model();
        const ValueId x = add_value(builder, full), y = builder.input(other);
        begin(builder);
        const ValueId result =
            builder.node(graph::Binary{kind}, swapped ? std::vector{y, x} : std::vector{x, y});
        std::vector<Tensor> inputs = {a};
        if (builder.build()->inputs.size() > 2) inputs.push_back(Tensor::zeros(full));
        inputs.push_back(b);
        const Tensor expected =
            swapped ? expected_binary(kind, b, a, full) : expected_binary(kind, a, b, full);
        expect_classes(run(builder, result, inputs), expected);
      }
}

TEST_P(SpecialValues, ExtremesWithAConstant) {
  for (const BinaryKind kind : {BinaryKind::kMin, BinaryKind::kMax})
    for (const float number : {1.0f, -1.0f, kInf, -kInf, kNan})
      for (const bool swapped : {false, true}) {
        SCOPED_TRACE(std::string(name_of(kind)) + " " + std::to_string(number));
        Tensor x = without_denormals(special_tensor({1, 21, 4, 6}));
        ModelBuilder builder = new_model();
        const ValueId value = add_value(builder, x.dims);
        const ValueId constant = builder.constant({{1}, {number}});
        begin(builder);
        const ValueId y = builder.node(graph::Binary{kind}, swapped ? std::vector{constant, value}
                                                                    : std::vector{value, constant});
        expect_classes(run(builder, y, {x}),
                       map(x, [&](float v) { return expected_binary(kind, v, number); }));
      }
}

// Makes an image of small numbers with one special value in one of its channels.
Tensor image_with(const Dims& dims, const Dims& at, float value) {
  Tensor x = Tensor::numbers(dims, 1);
  x.at(at) = value;
  return x;
}

TEST_P(SpecialValues, LargestAndMeanOfWindows) {
  const graph::Pool pool{
      graph::PoolKind::kMax, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false};
  for (const graph::PoolKind kind : {graph::PoolKind::kMax, graph::PoolKind::kAverage})
    for (const float special : {kNan, -kNan, kInf, -kInf})
      for (const int64_t channels : {3, 21, 32, 64})
        for (const Dims& at : {Dims{0, 0, 0, 0}, Dims{0, channels - 1, 8, 8}, Dims{0, 2, 4, 5}}) {
          SCOPED_TRACE(::testing::PrintToString(at) + " " + std::to_string(special) + " of " +
                       std::to_string(channels));
          graph::Pool op = pool;
          op.kind = kind;
          const Tensor x = image_with({1, channels, 9, 9}, at, special);
          ModelBuilder builder = new_model();
          const ValueId value = add_value(builder, x.dims);
          begin(builder);
          const ValueId y = builder.node(op, {value});
          Tensor expected = Tensor::zeros({1, channels, 5, 5});
          for_each_index(expected.dims, [&](const Dims& i) {
            const bool is_under =
                i[1] == at[1] && std::abs(2 * i[2] - at[2]) <= 1 && std::abs(2 * i[3] - at[3]) <= 1;
            const bool gives_way = kind == graph::PoolKind::kMax && special == -kInf;
            if (is_under && !gives_way) expected.at(i) = special;
          });
          expect_classes(run(builder, y, {x}), expected);
        }
}

TEST_P(SpecialValues, LargestOfNothingElse) {
  const graph::Pool op{
      graph::PoolKind::kMax, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, false};
  for (const float special : {kNan, kInf, -kInf})
    for (const int64_t channels : {3, 16, 32}) {
      Tensor x = Tensor::zeros({1, channels, 6, 6});
      std::ranges::fill(x.data, special);
      ModelBuilder builder = new_model();
      const ValueId value = add_value(builder, x.dims);
      begin(builder);
      const Tensor y = run(builder, builder.node(op, {value}), {x});
      for (const float element : y.data) ASSERT_EQ(class_of(element), class_of(special));
    }
}

TEST_P(SpecialValues, LargestAndMeanOfChannels) {
  for (const graph::PoolKind kind : {graph::PoolKind::kMax, graph::PoolKind::kAverage})
    for (const float special : {kNan, kInf, -kInf})
      for (const Dims& at : {Dims{0, 0, 0, 0}, Dims{0, 20, 4, 6}, Dims{0, 16, 2, 3}}) {
        const Tensor x = image_with({1, 21, 5, 7}, at, special);
        ModelBuilder builder = new_model();
        const ValueId value = add_value(builder, x.dims);
        begin(builder);
        const ValueId y = builder.node(graph::GlobalPool{kind}, {value});
        Tensor expected = Tensor::zeros({1, 21, 1, 1});
        const bool gives_way = kind == graph::PoolKind::kMax && special == -kInf;
        if (!gives_way) expected.at({0, at[1], 0, 0}) = special;
        expect_classes(run(builder, y, {x}), expected);
      }
}

TEST_P(SpecialValues, Reductions) {
  for (int number = 0; number < graph::kReduceKindCount; ++number)
    for (const Dims& axes : {Dims{2, 3}, Dims{1}, Dims{3}})
      for (const float special : {kNan, kInf, -kInf})
        for (const Dims& at : {Dims{0, 0, 0, 0}, Dims{0, 20, 4, 36}, Dims{0, 7, 2, 17}}) {
          const auto kind = static_cast<graph::ReduceKind>(number);
          SCOPED_TRACE(std::to_string(number) + " over " + ::testing::PrintToString(axes) + " of " +
                       std::to_string(special) + " at " + ::testing::PrintToString(at));
          Tensor x = image_with({1, 21, 5, 37}, at, special);
          for (float& value : x.data)
            if (value == 0) value = 1;
          ModelBuilder builder = new_model();
          const ValueId value = add_value(builder, x.dims);
          begin(builder);
          const ValueId y = builder.node(graph::Reduce{kind, axes, true}, {value});
          const Tensor actual = run(builder, y, {x});
          const bool gives_way = (kind == graph::ReduceKind::kMax && special == -kInf) ||
                                 (kind == graph::ReduceKind::kMin && special == kInf);
          for_each_index(actual.dims, [&](const Dims& i) {
            bool depends = !gives_way;
            for (size_t d = 0; d < i.size(); ++d)
              depends = depends &&
                        (std::ranges::count(axes, static_cast<int64_t>(d)) != 0 || i[d] == at[d]);
            // The sign of a product is not predicted.
            const std::string expected = depends ? class_of(special) : "finite";
            const std::string got = class_of(actual.at(i));
            if (kind == graph::ReduceKind::kProd && std::isinf(special) && depends)
              ASSERT_NE(got, "finite");
            else
              ASSERT_EQ(got, expected) << ::testing::PrintToString(i);
          });
        }
}

// The rows have many lengths: one has a NaN, one only -inf, one an inf, one some -inf.
TEST_P(SpecialValues, Softmax) {
  for (const bool log : {false, true})
    for (const int64_t length : {2, 5, 16, 37, 300})
      for (const int64_t rows : {5, 100}) {
        SCOPED_TRACE(std::to_string(length) + (log ? " log" : ""));
        Tensor x = Tensor::numbers({rows, length}, 1);
        x.at({0, length - 1}) = kNan;
        for (int64_t i = 0; i < length; ++i) x.at({1, i}) = -kInf;
        x.at({2, 0}) = kInf;
        x.at({3, 0}) = -kInf;
        ModelBuilder builder = new_model();
        const ValueId value = builder.input(x.dims);
        begin(builder);
        const ValueId y = builder.node(graph::Softmax{1, log}, {value});
        const Tensor actual = run(builder, y, {x});
        for_each_index(x.dims, [&](const Dims& at) {
          const std::string expected = at[0] < 3                         ? "NaN"
                                       : log && at[0] == 3 && at[1] == 0 ? "-inf"
                                                                         : "finite";
          ASSERT_EQ(class_of(actual.at(at)), expected) << ::testing::PrintToString(at);
        });
      }
}

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

  // Winograd's algorithm computes several results together.
  bool may_spread(const Dims& y, const Dims& at) const {
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
      if (!also_in_image) EXPECT_EQ(nans, 2);
      // All other elements must be the same as without a NaN.
      Tensor without = residual;
      without.data[residual.data.size() / 2] = without.data.back() = 0;
      const Tensor expected = run_with(function, x, &without);
      for (size_t i = 0; i < y.data.size(); ++i)
        if (!std::isnan(y.data[i])) ASSERT_EQ(y.data[i], expected.data[i]) << "element " << i;
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
    EXPECT_EQ(class_of(y.data.front()), class_of(expected_unary(function, kInf)));
    EXPECT_EQ(class_of(y.data.back()), class_of(expected_unary(function, -kInf)));
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

// A pointwise convolution, followed by a depthwise one, may become one step with it.
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
