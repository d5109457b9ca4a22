// Passes NaN, infinities, denormal numbers and zeros of either sign through the operators of the
// graph. Each element of a result must be NaN, infinite or finite as IEEE 754 and the definition of
// the operator require. The expectations are scalar functions of the C++ library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/max_isa.h"
#include "base/process/topology.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/special_values/special_values.h"

namespace millrace::device::cpu {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::Dims;
using graph::PartitionKind;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;

constexpr float kDenormal = 1e-40f;
constexpr float kLargest = 3e38f;

void expect_signs_of_zeros(const Tensor& actual, const Tensor& expected) {
  for (size_t i = 0; i < expected.data.size(); ++i)
    if (expected.data[i] == 0 && actual.data[i] == 0) {
      ASSERT_EQ(std::signbit(actual.data[i]), std::signbit(expected.data[i])) << "element " << i;
    }
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

Tensor without_negative_zeros(const Tensor& x) {
  return map(x, [](float value) { return value + 0.0f; });
}

// Without AVX-512, oneDNN's conversions to BF16 add 0 to each value.
bool bf16_has_negative_zeros() {
  return topology().features.avx512 && max_isa().value() != MaxIsa::kAvx2;
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
  // The values that the operator gets from add_value(): the sum of 0 and -0 is 0.
  Tensor added(const Tensor& x) const {
    return std::get<1>(GetParam()) == Origin::kBlocked ? without_negative_zeros(x) : converted(x);
  }
  // The values that the operator gets from an input.
  Tensor converted(const Tensor& x) const {
    return place() == Place::kNpuBf16 && !bf16_has_negative_zeros() ? without_negative_zeros(x) : x;
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

std::string name_of_case(const std::tuple<Place, Origin>& parameters) {
  const auto [place, origin] = parameters;
  const char* const places[] = {"Npu", "NpuBf16", "Cpu"};
  return std::string(places[static_cast<int>(place)]) +
         (origin == Origin::kPlain ? "Plain" : "Blocked");
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValues,
                         ::testing::Combine(::testing::Values(Place::kNpu, Place::kNpuBf16,
                                                              Place::kCpu),
                                            ::testing::Values(Origin::kPlain, Origin::kBlocked)),
                         [](const auto& info) { return name_of_case(info.param); });

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
  for (const float slope : {0.0f, -0.0f}) functions.push_back({UnaryKind::kLeakyRelu, slope, 0});
  functions.push_back({UnaryKind::kClip, 0, 6});
  functions.push_back({UnaryKind::kClip, -1, kInf});
  functions.push_back({UnaryKind::kClip, -kInf, 1});
  functions.push_back({UnaryKind::kClip, 1, 2});
  for (const float exponent : {2.0f, 3.0f, -1.0f, 0.0f})
    functions.push_back({UnaryKind::kPow, exponent, 0});
  return functions;
}

// Instructions for BF16 take denormal numbers for zero, so results of these are left out.
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
      const Tensor expected = map(added(x), [&](float v) { return reference_unary(function, v); });
      expect_classes(actual, expected);
      const bool has_signs = place() != Place::kNpuBf16 || bf16_has_negative_zeros();
      if (has_signs && keeps_sign_of_zero(function.kind) &&
          std::get<1>(GetParam()) == Origin::kPlain)
        expect_signs_of_zeros(actual, expected);
    }
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
        const Tensor expected = swapped ? reference_binary(kind, converted(b), added(a), full)
                                        : reference_binary(kind, added(a), converted(b), full);
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
                       map(x, [&](float v) { return reference_binary(kind, v, number); }));
      }
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
            const std::string_view expected = depends ? class_of(special) : "finite";
            const std::string_view got = class_of(actual.at(i));
            if (kind == graph::ReduceKind::kProd && std::isinf(special) && depends) {
              ASSERT_NE(got, "finite");
            } else {
              ASSERT_EQ(got, expected) << ::testing::PrintToString(i);
            }
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
          const std::string_view expected = at[0] < 3                         ? "NaN"
                                            : log && at[0] == 3 && at[1] == 0 ? "-inf"
                                                                              : "finite";
          ASSERT_EQ(class_of(actual.at(at)), expected) << ::testing::PrintToString(at);
        });
      }
}

}  // namespace
}  // namespace millrace::device::cpu
