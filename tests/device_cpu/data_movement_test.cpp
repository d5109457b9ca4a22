// Operators that only move elements: the result is exact, in any layout and type.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Precision;
using graph::ValueId;
using tensor::DataType;

// The element of x that element `at` of the result is.
using Source = std::function<float(const Tensor& x, const Dims& at)>;

struct Case {
  std::string name;
  Dims x;
  graph::Operator op;
  Source source;
};

std::vector<Case> cases() {
  using graph::PadMode;
  const auto pad_at = [](const Tensor& x, Dims at, const Dims& begin, float fill) {
    for (size_t i = 0; i < at.size(); ++i) {
      at[i] -= begin[i];
      if (at[i] < 0 || at[i] >= x.dims[i]) return fill;
    }
    return x.at(at);
  };
  return {
      {"ReshapeFlat",
       {1, 21, 3, 5},
       graph::Reshape{{1, 315}},
       [](const Tensor& x, const Dims& at) { return x.data[static_cast<size_t>(at[1])]; }},
      {"ReshapeMoreDims",
       {2, 16, 6},
       graph::Reshape{{2, 4, 4, 6}},
       [](const Tensor& x, const Dims& at) {
         return x.at({at[0], at[1] * 4 + at[2], at[3]});
       }},
      {"ReshapeUnsqueeze",
       {1, 32, 4, 4},
       graph::Reshape{{1, 1, 32, 4, 4}},
       [](const Tensor& x, const Dims& at) {
         return x.at({at[0], at[2], at[3], at[4]});
       }},
      {"Transpose",
       {1, 21, 3, 5},
       graph::Transpose{{0, 2, 3, 1}},
       [](const Tensor& x, const Dims& at) {
         return x.at({at[0], at[3], at[1], at[2]});
       }},
      {"TransposeCycle",
       {2, 3, 4},
       graph::Transpose{{2, 0, 1}},
       [](const Tensor& x, const Dims& at) {
         return x.at({at[1], at[2], at[0]});
       }},
      {"SliceChannels",
       {1, 40, 3, 5},
       graph::Slice{{0, 16, 0, 0}, {1, 24, 3, 5}, {1, 1, 1, 1}},
       [](const Tensor& x, const Dims& at) {
         return x.at({0, at[1] + 16, at[2], at[3]});
       }},
      {"SliceAnywhere",
       {1, 21, 6, 7},
       graph::Slice{{0, 3, 1, 2}, {1, 7, 4, 3}, {1, 1, 1, 1}},
       [](const Tensor& x, const Dims& at) {
         return x.at({0, at[1] + 3, at[2] + 1, at[3] + 2});
       }},
      {"SliceSteps",
       {1, 8, 6, 7},
       graph::Slice{{0, 1, 0, 6}, {1, 3, 6, 4}, {1, 2, 1, -2}},
       [](const Tensor& x, const Dims& at) {
         return x.at({0, 1 + 2 * at[1], at[2], 6 - 2 * at[3]});
       }},
      {"PadConstant",
       {1, 5, 4, 4},
       graph::Pad{PadMode::kConstant, {0, 1, 2, 0}, {0, 0, 1, 3}, 0.75f},
       [pad_at](const Tensor& x, const Dims& at) {
         return pad_at(x, at, {0, 1, 2, 0}, 0.75f);
       }},
      {"PadAndCrop",
       {1, 5, 4, 4},
       graph::Pad{PadMode::kConstant, {0, 0, -1, 1}, {0, 0, 2, -2}, 0},
       [pad_at](const Tensor& x, const Dims& at) {
         return pad_at(x, at, {0, 0, -1, 1}, 0);
       }},
      {"PadReflect",
       {2, 3, 5},
       graph::Pad{PadMode::kReflect, {0, 0, 3}, {0, 0, 4}, 0},
       [](const Tensor& x, const Dims& at) {
         const int64_t i = std::abs(at[2] - 3);
         return x.at({at[0], at[1], i > 4 ? 8 - i : i});
       }},
      {"PadEdge",
       {2, 3, 5},
       graph::Pad{PadMode::kEdge, {0, 1, 2}, {0, 1, 1}, 0},
       [](const Tensor& x, const Dims& at) {
         return x.at(
             {at[0], std::clamp<int64_t>(at[1] - 1, 0, 2), std::clamp<int64_t>(at[2] - 2, 0, 4)});
       }},
      {"Expand",
       {1, 3, 1, 5},
       graph::Expand{{2, 3, 4, 5}},
       [](const Tensor& x, const Dims& at) {
         return x.at({0, at[1], 0, at[3]});
       }},
      {"ExpandRank",
       {5},
       graph::Expand{{2, 3, 5}},
       [](const Tensor& x, const Dims& at) { return x.at({at[2]}); }},
  };
}

class Movement : public ::testing::TestWithParam<size_t> {
 protected:
  const Case test_ = cases()[GetParam()];
  Tensor expected(const Tensor& x, const Dims& result) const {
    Tensor y = Tensor::zeros(result);
    for_each_index(result, [&](const Dims& at) { y.at(at) = test_.source(x, at); });
    return y;
  }
};

TEST_P(Movement, OfFloatingPointNumbers) {
  const Tensor x = Tensor::numbers(test_.x, 1);
  for (Precision precision : {Precision::kFp32, Precision::kBf16}) {
    ModelBuilder builder(precision);
    const ValueId y = builder.node(test_.op, {builder.input(test_.x)});
    builder.output(y);
    const auto model = builder.build();
    EXPECT_EQ(run_model(model, {x}).data, expected(x, model->graph.values[y].shape).data);
  }
}

TEST_P(Movement, OfABlockedImage) {
  if (test_.x.size() != 4) GTEST_SKIP() << "no image";
  const Tensor x = Tensor::numbers(test_.x, 1);
  Tensor identity = Tensor::zeros({x.dims[1], x.dims[1], 1, 1});
  for (int64_t c = 0; c < x.dims[1]; ++c) identity.at({c, c, 0, 0}) = 1;
  ModelBuilder builder;
  const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
  const ValueId image = builder.node(conv, {builder.input(test_.x), builder.constant(identity)});
  const ValueId y = builder.node(test_.op, {image});
  builder.output(y);
  const auto model = builder.build();
  EXPECT_EQ(run_model(model, {x}).data, expected(x, model->graph.values[y].shape).data);
}

TEST_P(Movement, OfTypesThatTheDeviceKeeps) {
  Tensor x = Tensor::numbers(test_.x, 1);
  for (float& value : x.data) value *= 128;
  for (DataType type : {DataType::kInt64, DataType::kInt32, DataType::kInt8, DataType::kFloat64}) {
    ModelBuilder builder;
    const ValueId y = builder.node(test_.op, {builder.input(test_.x, type)});
    builder.output(y);
    const auto model = builder.build();
    Tensor result = expected(x, model->graph.values[y].shape);
    // The fill value becomes an integer too.
    if (type != DataType::kFloat64)
      for (float& value : result.data) value = std::trunc(value);
    EXPECT_EQ(run_model(model, {x}).data, result.data) << to_string(type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Movement, ::testing::Range(size_t{0}, cases().size()),
                         [](const auto& info) { return cases()[info.param].name; });

class ConcatAxis : public ::testing::TestWithParam<std::tuple<int64_t, Precision>> {};

// The pieces come from the caller, from convolutions (in blocks), from a constant, and one of them
// twice.
TEST_P(ConcatAxis, PutsThePiecesBehindEachOther) {
  const auto [axis, precision] = GetParam();
  for (int64_t channels : {16, 10}) {
    const Tensor x = Tensor::numbers({1, channels, 4, 4}, 1), c = Tensor::numbers(x.dims, 2);
    Tensor identity = Tensor::zeros({channels, channels, 1, 1});
    for (int64_t i = 0; i < channels; ++i) identity.at({i, i, 0, 0}) = 1;
    ModelBuilder builder(precision);
    const ValueId input = builder.input(x.dims), constant = builder.constant(c);
    const ValueId made = builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                                      {input, builder.constant(identity)});
    const ValueId y = builder.node(graph::Concat{axis}, {made, input, made, constant});
    builder.output(y);
    // The piece is needed after the concatenation as well.
    builder.output(builder.node(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {made}));
    const auto program = load(builder.build());
    const std::vector<Tensor> results = run(*program, {x});
    const Tensor* pieces[] = {&x, &x, &x, &c};
    Tensor expected = Tensor::zeros(results[0].dims);
    const auto along = static_cast<size_t>(axis);
    for_each_index(expected.dims, [&](const Dims& at) {
      Dims from = at;
      from[along] %= x.dims[along];
      expected.at(at) = pieces[at[along] / x.dims[along]]->at(from);
    });
    EXPECT_EQ(results[0].data, expected.data);
    EXPECT_EQ(results[1].data, map(x, [](float v) { return -v; }).data);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConcatAxis,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3),
                                            ::testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& info) {
                           return "Axis" + std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Precision::kBf16 ? "Bf16" : "Fp32");
                         });

TEST(Concat, OfConvolutionsCopiesNothing) {
  const Tensor x = Tensor::numbers({1, 16, 6, 6}, 1), weight = Tensor::numbers({32, 16, 1, 1}, 2);
  const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
  ModelBuilder builder;
  const ValueId input = builder.node(
      conv, {builder.input(x.dims), builder.constant(Tensor::numbers({16, 16, 1, 1}, 3))});
  const ValueId a = builder.node(conv, {input, builder.constant(weight)});
  const ValueId b = builder.node(conv, {input, builder.constant(weight)});
  const ValueId joined = builder.node(graph::Concat{1}, {a, b});
  builder.output(builder.node(graph::GlobalPool{}, {joined}));
  const auto program = load(builder.build());
  // Only the boundary needs reorders: one for each view of the input, none for the output in FP32
  // whose single pixel lies the same in most layouts.
  EXPECT_EQ(count_steps(*program, "Conv"), 3u);
  EXPECT_LE(count_steps(*program, "Reorder"), 4u);
  const Tensor y = run(*program, {x}).at(0);
  for (int64_t c = 0; c < 32; ++c) EXPECT_EQ(y.at({0, c, 0, 0}), y.at({0, c + 32, 0, 0}));
}

TEST(Concat, OfIntegers) {
  const Tensor a{{2, 2}, {1, 2, 3, 4}}, b{{2, 1}, {5, 6}};
  ModelBuilder builder;
  builder.output(builder.node(graph::Concat{1}, {builder.input(a.dims, DataType::kInt64),
                                                 builder.input(b.dims, DataType::kInt64)}));
  EXPECT_EQ(run_model(builder.build(), {a, b}).data, (std::vector<float>{1, 2, 5, 3, 4, 6}));
}

// Reshape, Transpose, Reshape: the channels of the groups interleave.
TEST(ChannelShuffle, KeepsEveryChannel) {
  const int64_t channels = 48, groups = 3;
  const Tensor x = Tensor::numbers({1, channels, 5, 5}, 1);
  Tensor identity = Tensor::zeros({channels, channels, 1, 1});
  for (int64_t c = 0; c < channels; ++c) identity.at({c, c, 0, 0}) = 1;
  for (Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
    ModelBuilder builder(precision);
    const ValueId weight = builder.constant(identity);
    const ValueId in = builder.node(conv, {builder.input(x.dims), weight});
    const ValueId split = builder.node(graph::Reshape{{1, groups, channels / groups, 5, 5}}, {in});
    const ValueId swapped = builder.node(graph::Transpose{{0, 2, 1, 3, 4}}, {split});
    const ValueId joined = builder.node(graph::Reshape{x.dims}, {swapped});
    builder.output(builder.node(conv, {joined, weight}));
    Tensor expected = x;
    for_each_index(x.dims, [&](const Dims& at) {
      expected.at(at) =
          x.at({0, at[1] % groups * (channels / groups) + at[1] / groups, at[2], at[3]});
    });
    EXPECT_EQ(run_model(builder.build(), {x}).data, expected.data);
  }
}

Tensor reference_gather(const Tensor& x, const std::vector<int64_t>& indices, int64_t axis) {
  Dims result = x.dims;
  result[static_cast<size_t>(axis)] = static_cast<int64_t>(indices.size());
  Tensor y = Tensor::zeros(result);
  for_each_index(result, [&](const Dims& at) {
    Dims from = at;
    int64_t& along = from[static_cast<size_t>(axis)];
    along = indices[static_cast<size_t>(along)];
    if (along < 0) along += x.dims[static_cast<size_t>(axis)];
    y.at(at) = x.at(from);
  });
  return y;
}

TEST(Gather, TakesConstantAndRunTimeIndices) {
  const Tensor x = Tensor::numbers({3, 7, 4}, 1);
  const std::vector<int64_t> indices = {6, 0, -1, 3};
  const Tensor as_floats{{4}, {6, 0, -1, 3}};
  for (int64_t axis : {int64_t{1}}) {
    const Tensor expected = reference_gather(x, indices, axis);
    for (DataType type : {DataType::kInt64, DataType::kInt32}) {
      ModelBuilder builder;
      builder.output(
          builder.node(graph::Gather{axis}, {builder.input(x.dims), builder.input({4}, type)}));
      EXPECT_EQ(run_model(builder.build(), {x, as_floats}).data, expected.data);
    }
    ModelBuilder builder;
    builder.output(
        builder.node(graph::Gather{axis},
                     {builder.input(x.dims), builder.integers({4}, DataType::kInt64, indices)}));
    EXPECT_EQ(run_model(builder.build(), {x}).data, expected.data);
  }
}

TEST(Gather, OfOneRowDropsTheDimension) {
  const Tensor x = Tensor::numbers({3, 7, 4}, 1);
  for (int64_t index : {int64_t{2}, int64_t{-3}}) {
    ModelBuilder builder;
    builder.output(builder.node(
        graph::Gather{1},
        {builder.input(x.dims), builder.integers({}, DataType::kInt64, std::vector{index})}));
    const Tensor y = run_model(builder.build(), {x});
    EXPECT_EQ(y.dims, (Dims{3, 4}));
    EXPECT_EQ(y.data, reference_gather(x, {index}, 1).data);
  }
}

TEST(Gather, RefusesAnIndexOutsideTheDimension) {
  for (float index : {7.0f, -8.0f}) {
    ModelBuilder builder;
    builder.output(builder.node(graph::Gather{0},
                                {builder.input({7, 4}), builder.input({1}, DataType::kInt64)}));
    try {
      run_model(builder.build(), {Tensor::numbers({7, 4}, 1), Tensor{{1}, {index}}});
      FAIL() << "index " << index << " was taken";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("INVALID_ARGUMENT"), std::string::npos);
    }
  }
}

TEST(Gather, RefusesAConstantIndexOutsideTheDimensionToo) {
  ModelBuilder builder;
  builder.output(builder.node(
      graph::Gather{0},
      {builder.input({7, 4}), builder.integers({}, DataType::kInt64, std::vector<int64_t>{9})}));
  EXPECT_THROW(run_model(builder.build(), {Tensor::numbers({7, 4}, 1)}), std::runtime_error);
}

TEST(Cast, BetweenFloatingPointAndIntegers) {
  const Tensor x{{6}, {-1.75f, -0.5f, 0, 0.5f, 1.75f, 100}};
  for (Precision precision : {Precision::kFp32, Precision::kBf16}) {
    ModelBuilder builder(precision);
    const ValueId input = builder.input(x.dims);
    const ValueId integers = builder.node(graph::Cast{DataType::kInt64}, {input});
    builder.output(integers);
    builder.output(builder.node(graph::Cast{DataType::kFloat32}, {integers}));
    builder.output(builder.node(graph::Cast{DataType::kBoolean}, {input}));
    const std::vector<Tensor> y = run(*load(builder.build()), {x});
    EXPECT_EQ(y[0].data, (std::vector<float>{-1, 0, 0, 0, 1, 100}));
    EXPECT_EQ(y[1].data, y[0].data);
    EXPECT_EQ(y[2].data, (std::vector<float>{1, 1, 0, 1, 1, 1}));
  }
}

TEST(Cast, KeepsTheDigitsOfADouble) {
  ModelBuilder builder(Precision::kBf16);
  const ValueId wide =
      builder.integers({2}, DataType::kFloat64, std::vector<double>{65537.75, -0.5});
  builder.output(builder.node(graph::Cast{DataType::kInt64}, {wide}));
  const ValueId integer = builder.input({2}, DataType::kInt64);
  const ValueId again = builder.node(graph::Cast{DataType::kFloat64}, {integer});
  builder.output(builder.node(graph::Cast{DataType::kInt32}, {again}));
  builder.output(builder.node(graph::Cast{DataType::kBoolean}, {wide}));
  const std::vector<Tensor> y = run(*load(builder.build()), {Tensor{{2}, {3, -4}}});
  EXPECT_EQ(y[0].data, (std::vector<float>{65537, 0}));
  EXPECT_EQ(y[1].data, (std::vector<float>{3, -4}));
  EXPECT_EQ(y[2].data, (std::vector<float>{1, 1}));
}

TEST(Cast, SaturatesWhatDoesNotFit) {
  const Tensor x{{4}, {-1e20f, 1e20f, -300, 300}};
  ModelBuilder builder;
  const ValueId input = builder.input(x.dims);
  builder.output(builder.node(graph::Cast{DataType::kInt8}, {input}));
  builder.output(builder.node(graph::Cast{DataType::kUint8}, {input}));
  const std::vector<Tensor> y = run(*load(builder.build()), {x});
  EXPECT_EQ(y[0].data, (std::vector<float>{-128, 127, -128, 127}));
  EXPECT_EQ(y[1].data, (std::vector<float>{0, 255, 0, 255}));
}

}  // namespace
}  // namespace millrace::device::cpu
