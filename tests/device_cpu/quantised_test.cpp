// Quantised values: what the device computes is the real numbers, rounded to the steps of the
// result.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Quantisation;
using graph::Requantise;
using tensor::DataType;
using ::testing::ElementsAre;

float rounded(float x, float scale, int zero_point, int low, int high) {
  const float q = std::nearbyint(x / scale) + static_cast<float>(zero_point);
  return (std::clamp(q, static_cast<float>(low), static_cast<float>(high)) -
          static_cast<float>(zero_point)) *
         scale;
}

TEST(Quantised, RequantiseRoundsToEvenAndSaturates) {
  ModelBuilder b;
  const auto x = b.input({6});
  const auto q = b.quantised(Requantise{}, {x}, DataType::kInt8, {{0.5f}, {-100}});
  b.output(b.node(Requantise{}, {q}));
  const Tensor y = run_model(b.build(), {{{6}, {0.25f, 0.75f, -0.25f, 1000, -1000, -14.2f}}});
  EXPECT_THAT(y.data, ElementsAre(0, 1, 0, 113.5f, -14, -14));
}

TEST(Quantised, ScalesGoAlongAnAxis) {
  ModelBuilder b;
  const auto x = b.input({2, 2, 2});
  const Quantisation quantisation{{1, 0.25f}, {128, 0}, 1};
  const auto q = b.quantised(Requantise{}, {x}, DataType::kUint8, quantisation);
  b.output(b.node(Requantise{}, {q}));
  const Tensor y =
      run_model(b.build(), {{{2, 2, 2}, {1.4f, -3.6f, 0.3f, -1, 200, -200, 0.6f, 100}}});
  EXPECT_THAT(y.data, ElementsAre(1, -4, 0.25f, 0, 127, -128, 0.5f, 63.75f));
}

TEST(Quantised, AnyOperatorRoundsItsResult) {
  for (const auto precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    ModelBuilder b(precision);
    const graph::Dims dims{1, 3, 5, 7};
    const auto x = b.input(dims);
    const auto q = b.quantised(Requantise{}, {x}, DataType::kInt8, {{1 / 64.0f}, {0}});
    const auto sum = b.quantised(graph::Binary{graph::BinaryKind::kAdd}, {q, q}, DataType::kInt8,
                                 {{1 / 16.0f}, {3}});
    const auto sigmoid = b.quantised(graph::Unary{{graph::UnaryKind::kSigmoid, 0, 0}}, {sum},
                                     DataType::kUint8, {{1 / 128.0f}, {0}});
    b.output(b.node(Requantise{}, {sigmoid}));
    const Tensor input = Tensor::numbers(dims, 1);
    const Tensor expected = map(input, [](float number) {
      const float twice = 2 * rounded(number, 1 / 64.0f, 0, -128, 127);
      const float kept = rounded(twice, 1 / 16.0f, 3, -128, 127);
      return rounded(1 / (1 + std::exp(-kept)), 1 / 128.0f, 0, 0, 255);
    });
    // In BF16, the sigmoid may fall on the other side of the middle between two steps.
    const float step = precision == graph::Precision::kBf16 ? 1 / 128.0f : 0;
    const Tensor actual = run_model(b.build(), {input});
    for (size_t i = 0; i < expected.data.size(); ++i)
      EXPECT_NEAR(actual.data[i], expected.data[i], step) << i;
  }
}

TEST(Quantised, AnOperandOfLowerRankHasOneElementForEachOfTheResult) {
  ModelBuilder b;
  const Quantisation halves{{0.5f}, {0}};
  const auto row = b.quantised(Requantise{}, {b.input({1, 3})}, DataType::kInt8, halves);
  const auto vector = b.quantised(Requantise{}, {b.input({3})}, DataType::kInt8, halves);
  const auto product = b.quantised(graph::Binary{graph::BinaryKind::kMul}, {vector, row},
                                   DataType::kInt8, {{0.25f}, {0}});
  b.output(b.node(Requantise{}, {product}));
  const Tensor y = run_model(b.build(), {{{1, 3}, {1, 2, -3}}, {{3}, {0.5f, 1, 2}}});
  EXPECT_THAT(y.data, ElementsAre(0.5f, 2, -6));
}

TEST(Quantised, ConvTakesQuantisedWeightsAndBias) {
  ModelBuilder b;
  const auto x = b.input({1, 2, 1, 2});
  const auto q = b.quantised(Requantise{}, {x}, DataType::kUint8, {{0.5f}, {10}});
  const auto weight = b.quantised_constant<int8_t>({2, 2, 1, 1}, DataType::kInt8, {1, 2, 3, -4},
                                                   {{0.5f, 0.25f}, {0, 0}, 0});
  const auto bias =
      b.quantised_constant<int32_t>({2}, DataType::kInt32, {8, -8}, {{0.25f, 0.125f}, {0, 0}, 0});
  graph::Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kRelu, 0, 0}};
  const auto y = b.quantised(conv, {q, weight, bias}, DataType::kUint8, {{0.25f}, {5}});
  b.output(b.node(Requantise{}, {y}));
  const Tensor result = run_model(b.build(), {{{1, 2, 1, 2}, {1, 2, 3, -4}}});
  // 0.5 * 1 + 1 * 3 + 2, 0.5 * 2 - 4 + 2; 0.75 * 1 - 3 - 1, 0.75 * 2 + 4 - 1
  EXPECT_THAT(result.data, ElementsAre(5.5f, 0, 0, 4.5f));
}

TEST(Quantised, CastAndFallbackReadTheIntegers) {
  ModelBuilder b;
  const auto x = b.input({3});
  const auto q = b.quantised(Requantise{}, {x}, DataType::kInt8, {{0.5f}, {1}});
  const auto raw = b.fallback({"Abs", {}}, {q})[0];
  b.output(b.node(graph::Cast{DataType::kFloat32}, {q}));
  b.output(b.node(graph::Cast{DataType::kFloat32}, {raw}));
  const auto program = load(b.build());
  const auto results = run(*program, {{{3}, {-1, 0, 3}}});
  EXPECT_THAT(results[0].data, ElementsAre(-1, 1, 7));
  EXPECT_THAT(results[1].data, ElementsAre(1, 1, 7));
}

}  // namespace
}  // namespace millrace::device::cpu
