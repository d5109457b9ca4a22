// Operators that look along dimensions: Reduce, Softmax, BatchNormalization, Resize.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Precision;
using graph::ReduceKind;
using graph::ValueId;

constexpr Precision kPrecisions[] = {Precision::kFp32, Precision::kBf16};

// An image as a convolution leaves it, or the input itself.
ValueId add_image(ModelBuilder& builder, const Dims& dims, bool blocked) {
  const ValueId x = builder.input(dims);
  if (!blocked) return x;
  Tensor identity = Tensor::zeros({dims[1], dims[1], 1, 1});
  for (int64_t c = 0; c < dims[1]; ++c) identity.at({c, c, 0, 0}) = 1;
  return builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}},
                      {x, builder.constant(identity)});
}

Tensor reference_reduce(const graph::Reduce& op, const Tensor& x, const Dims& result) {
  Dims kept = x.dims;
  for (int64_t axis : op.axes) kept[static_cast<size_t>(axis)] = 1;
  const float start = op.kind == ReduceKind::kProd  ? 1
                      : op.kind == ReduceKind::kMax ? -std::numeric_limits<float>::infinity()
                      : op.kind == ReduceKind::kMin ? std::numeric_limits<float>::infinity()
                                                    : 0;
  Tensor y = Tensor::zeros(kept);
  std::ranges::fill(y.data, start);
  for_each_index(x.dims, [&](const Dims& at) {
    Dims to = at;
    for (int64_t axis : op.axes) to[static_cast<size_t>(axis)] = 0;
    float& value = y.at(to);
    if (op.kind == ReduceKind::kProd) value *= x.at(at);
    if (op.kind == ReduceKind::kMax) value = std::max(value, x.at(at));
    if (op.kind == ReduceKind::kMin) value = std::min(value, x.at(at));
    if (op.kind == ReduceKind::kSum || op.kind == ReduceKind::kMean) value += x.at(at);
  });
  if (op.kind == ReduceKind::kMean)
    for (float& value : y.data)
      value /= static_cast<float>(x.data.size()) / static_cast<float>(y.data.size());
  y.dims = result;
  return y;
}

TEST(Reduce, EveryKindOverEveryAxis) {
  for (Precision precision : kPrecisions)
    for (bool blocked : {false, true})
      for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
        for (const Dims& axes :
             {Dims{1}, Dims{3}, Dims{2, 3}, Dims{0, 2}, Dims{1, 2, 3}, Dims{0, 1, 2, 3}})
          for (bool keep_dims : {true, false}) {
            const graph::Reduce op{static_cast<ReduceKind>(kind), axes, keep_dims};
            SCOPED_TRACE(std::string(blocked ? "blocked" : "plain") + " kind " +
                         std::to_string(kind) + " axes " + ::testing::PrintToString(axes));
            Tensor x = Tensor::numbers({1, 21, 5, 4}, 1);
            if (op.kind == ReduceKind::kProd)
              for (float& value : x.data) value = 1 + value / 16;
            ModelBuilder builder(precision);
            const ValueId y = builder.node(op, {add_image(builder, x.dims, blocked)});
            builder.output(y);
            const auto model = builder.build();
            expect_close(run_model(model, {x}),
                         reference_reduce(op, x, model->graph.values[y].shape),
                         precision == Precision::kBf16 ? 5e-2 : 1e-5);
          }
}

TEST(Softmax, AlongEveryAxis) {
  for (Precision precision : kPrecisions)
    for (bool blocked : {false, true})
      for (int64_t axis : {1, 2, 3})
        for (bool log : {false, true}) {
          const Tensor x = Tensor::numbers({1, 21, 5, 4}, 1);
          ModelBuilder builder(precision);
          builder.output(
              builder.node(graph::Softmax{axis, log}, {add_image(builder, x.dims, blocked)}));
          Tensor sums = reference_reduce({ReduceKind::kSum, {axis}, true},
                                         map(x, [](float v) { return std::exp(v); }), [&] {
                                           Dims dims = x.dims;
                                           dims[static_cast<size_t>(axis)] = 1;
                                           return dims;
                                         }());
          Tensor expected = x;
          for_each_index(x.dims, [&](const Dims& at) {
            const float sum = broadcast_at(sums, at);
            expected.at(at) = log ? x.at(at) - std::log(sum) : std::exp(x.at(at)) / sum;
          });
          const auto program = load(builder.build());
          for (const std::string& name : implementations(*program))
            EXPECT_EQ(name.find("ref"), std::string::npos) << name;
          expect_close(run(*program, {x}).at(0), expected, tolerance_of(precision));
        }
}

// Rows that end within a vector, and rows that are too long for several in a vector.
TEST(Softmax, OfManyRows) {
  for (const int64_t length : {1, 2, 3, 16, 17, 64, 197}) {
    Tensor x = Tensor::numbers({1, 301, length}, 1);
    for (float& number : x.data) number *= 64;  // which leaves it exact in BF16
    Tensor expected = x;
    for (int64_t row = 0; row < 301; ++row) {
      const auto begin = expected.data.begin() + row * length, end = begin + length;
      const float largest = *std::max_element(begin, end);
      std::transform(begin, end, begin, [&](float v) { return std::exp(v - largest); });
      const float sum = std::accumulate(begin, end, 0.0F);
      std::transform(begin, end, begin, [&](float v) { return v / sum; });
    }
    for (const Precision precision : kPrecisions) {
      ModelBuilder builder(precision);
      builder.output(builder.node(graph::Softmax{2}, {builder.input(x.dims)}));
      expect_close(run_model(builder.build(), {x}), expected, tolerance_of(precision));
    }
  }
}

// Each power of e down to the least denormal number, to the last bits, and 0 below.
TEST(Softmax, KeepsSmallResults) {
  Tensor x{{1, 120}, std::vector<float>(120)};
  for (size_t i = 0; i < 120; ++i) x.data[i] = -static_cast<float>(i);
  ModelBuilder builder;
  builder.output(builder.node(graph::Softmax{1}, {builder.input(x.dims)}));
  const std::vector<float> y = run_model(builder.build(), {x}).data;
  const double sum = 1 / (1 - std::exp(-1.0));
  constexpr double kLeast = std::numeric_limits<float>::denorm_min();
  for (size_t i = 0; i < 120; ++i) {
    const double expected = std::exp(-static_cast<double>(i)) / sum;
    EXPECT_NEAR(y[i], expected, std::max(4e-7 * expected, 1.5 * kLeast)) << i;
  }
}

TEST(Softmax, OfShortRowsKeepsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Precision precision : kPrecisions)
    for (const size_t at : {0, 1, 2}) {
      Tensor x{{100, 3}, std::vector<float>(300, 1)};
      x.data[at] = nan;
      x.data[6 + at] = -infinity;
      ModelBuilder builder(precision);
      builder.output(builder.node(graph::Softmax{1}, {builder.input(x.dims)}));
      const std::vector<float> y = run_model(builder.build(), {x}).data;
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(std::isnan(y[i]));
        EXPECT_NEAR(y[3 + i], 1 / 3.0, precision == Precision::kFp32 ? 1e-6 : 1e-2);
        EXPECT_NEAR(y[6 + i], i == at ? 0 : 0.5, 1e-6);
      }
    }
}

TEST(BatchNormalization, ScalesAndShiftsEachChannel) {
  for (Precision precision : kPrecisions)
    for (bool blocked : {false, true})
      for (const Dims& dims : {Dims{1, 21, 5, 4}, Dims{2, 16, 3, 3}}) {
        const Tensor x = Tensor::numbers(dims, 1), scale = Tensor::numbers({dims[1]}, 2),
                     bias = Tensor::numbers({dims[1]}, 3), mean = Tensor::numbers({dims[1]}, 4),
                     variance = map(Tensor::numbers({dims[1]}, 5),
                                    [](float v) { return std::fabs(v) + 0.5f; });
        ModelBuilder builder(precision);
        builder.output(builder.node(
            graph::BatchNormalization{1e-3f},
            {add_image(builder, dims, blocked), builder.constant(scale), builder.constant(bias),
             builder.constant(mean), builder.constant(variance)}));
        Tensor expected = x;
        for_each_index(dims, [&](const Dims& at) {
          const Dims c = {at[1]};
          expected.at(at) =
              (x.at(at) - mean.at(c)) / std::sqrt(variance.at(c) + 1e-3f) * scale.at(c) +
              bias.at(c);
        });
        expect_close(run_model(builder.build(), {x}), expected, tolerance_of(precision));
      }
}

using graph::CoordinateMode;
using graph::NearestMode;
using graph::ResizeMode;

float source_of(CoordinateMode mode, int64_t i, int64_t from, int64_t to, float scale) {
  const auto x = static_cast<float>(i);
  if (mode == CoordinateMode::kAsymmetric) return x / scale;
  if (mode == CoordinateMode::kAlignCorners)
    return to == 1 ? 0 : x * static_cast<float>(from - 1) / static_cast<float>(to - 1);
  if (mode == CoordinateMode::kPytorchHalfPixel && to == 1) return 0;
  return (x + 0.5f) / scale - 0.5f;
}

int64_t nearest_of(NearestMode mode, float x) {
  if (mode == NearestMode::kFloor) return static_cast<int64_t>(std::floor(x));
  if (mode == NearestMode::kCeil) return static_cast<int64_t>(std::ceil(x));
  const float floor = std::floor(x);
  const bool tie = x - floor == 0.5f;
  const bool up = tie ? mode == NearestMode::kRoundPreferCeil : x - floor > 0.5f;
  return static_cast<int64_t>(floor) + (up ? 1 : 0);
}

Tensor reference_resize(const graph::Resize& op, const Tensor& x) {
  Tensor y = Tensor::zeros(op.shape);
  for_each_index(op.shape, [&](const Dims& at) {
    std::vector<float> position;
    for (size_t i = 0; i < at.size(); ++i)
      position.push_back(source_of(op.coordinates, at[i], x.dims[i], op.shape[i], op.scales[i]));
    if (op.mode == ResizeMode::kNearest) {
      Dims from;
      for (size_t i = 0; i < at.size(); ++i)
        from.push_back(std::clamp<int64_t>(nearest_of(op.nearest, position[i]), 0, x.dims[i] - 1));
      y.at(at) = x.at(from);
      return;
    }
    double sum = 0;
    for_each_index(Dims(at.size(), 2), [&](const Dims& corner) {
      Dims from;
      double weight = 1;
      for (size_t i = 0; i < at.size(); ++i) {
        const float p = std::clamp(position[i], 0.0f, static_cast<float>(x.dims[i] - 1));
        const auto low = static_cast<int64_t>(p);
        from.push_back(std::min(low + corner[i], x.dims[i] - 1));
        weight *= corner[i] == 1 ? p - static_cast<float>(low) : 1 - (p - static_cast<float>(low));
      }
      sum += weight * x.at(from);
    });
    y.at(at) = static_cast<float>(sum);
  });
  return y;
}

TEST(Resize, EveryModeUpAndDown) {
  const Dims from = {1, 21, 6, 5};
  const std::vector<std::pair<Dims, std::vector<float>>> targets = {
      {{1, 21, 12, 10}, {1, 1, 2, 2}},
      {{1, 21, 3, 5}, {1, 1, 0.5f, 1}},
      {{1, 21, 9, 13}, {1, 1, 1.5f, 2.6f}},
      {{1, 21, 7, 1}, {1, 1, 1.2f, 0.3f}},  // scales that are not the ratio of the sizes
  };
  for (Precision precision : kPrecisions)
    for (bool blocked : {false, true})
      for (const auto& [shape, scales] : targets)
        for (int mode = 0; mode < 2; ++mode)
          for (int coordinates = 0; coordinates < 4; ++coordinates)
            for (int nearest = 0; nearest < (mode == 0 ? 4 : 1); ++nearest) {
              const graph::Resize op{static_cast<ResizeMode>(mode),
                                     static_cast<CoordinateMode>(coordinates),
                                     static_cast<NearestMode>(nearest), shape, scales};
              SCOPED_TRACE("to " + ::testing::PrintToString(shape) + " mode " +
                           std::to_string(mode) + " coordinates " + std::to_string(coordinates) +
                           " nearest " + std::to_string(nearest));
              const Tensor x = Tensor::numbers(from, 1);
              ModelBuilder builder(precision);
              builder.output(builder.node(op, {add_image(builder, from, blocked)}));
              expect_close(run_model(builder.build(), {x}), reference_resize(op, x),
                           tolerance_of(precision));
            }
}

// The coordinates are multiples of one half, but the scales are not binary fractions.
TEST(Resize, NearestTakesTheElementOfTheExactCoordinate) {
  const Tensor x = Tensor::numbers({1, 1, 1, 20}, 1);
  const auto resized = [&](const graph::Resize& op) {
    ModelBuilder builder;
    builder.output(builder.node(op, {builder.input(x.dims)}));
    return run_model(builder.build(), {x}).data;
  };
  const auto elements = [&](const std::vector<size_t>& indices) {
    std::vector<float> expected;
    for (const size_t index : indices) expected.push_back(x.data[index]);
    return expected;
  };
  for (const float scale : {0.3F, static_cast<float>(6.0 / 20)}) {
    const auto to_six = [&](CoordinateMode coordinates, NearestMode nearest) {
      return resized({ResizeMode::kNearest, coordinates, nearest, {1, 1, 1, 6}, {1, 1, 1, scale}});
    };
    // 10 / 3 * (i + 1/2) - 1/2: 1.17, 4.5, 7.83, 11.17, 14.5, 17.83
    EXPECT_EQ(to_six(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferCeil),
              elements({1, 5, 8, 11, 15, 18}));
    EXPECT_EQ(to_six(CoordinateMode::kHalfPixel, NearestMode::kRoundPreferFloor),
              elements({1, 4, 8, 11, 14, 18}));
    // 10 / 3 * i: 0, 3.33, 6.67, 10, 13.33, 16.67
    EXPECT_EQ(to_six(CoordinateMode::kAsymmetric, NearestMode::kFloor),
              elements({0, 3, 6, 10, 13, 16}));
    EXPECT_EQ(to_six(CoordinateMode::kAsymmetric, NearestMode::kCeil),
              elements({0, 4, 7, 10, 14, 17}));
  }
}

}  // namespace
}  // namespace millrace::device::cpu
