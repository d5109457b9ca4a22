// Networks with residual connections: the convolution that computes the sum, too, gives what the
// two operators give one after the other, in exact arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/process/topology.h"
#include "tests/device_cpu/quantised_model.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Requantise;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;
using ::testing::Contains;
using ::testing::Not;

// A value of the network and what it is in FLOAT64, in which all sums of products of bytes are
// exact. Images are [1, C, H, W].
struct Image {
  ValueId id;
  Form form;
  int64_t channels, size;
  std::vector<int> integers;

  double number(size_t i) const { return double{form.scale} * (integers[i] - form.zero_point); }
};

int rounded(double number, const Form& form) {
  const int least = form.type == DataType::kInt8 ? -128 : 0;
  const double steps = std::nearbyint(number / form.scale) + form.zero_point;
  return static_cast<int>(std::clamp(steps, double(least), double(least + 255)));
}

// Scales of the weights of a channel: without a common factor, as in models, or powers of two, so
// that FP32 rounds nothing.
enum class Scales { kUneven, kPowersOfTwo };

class Network {
 public:
  explicit Network(Scales scales = Scales::kUneven) : scales_(scales) {}

  Image input(int64_t channels, int64_t size, const Form& form) {
    const Dims dims{1, channels, size, size};
    input_ = Tensor::numbers(dims, 5);
    Image image{
        builder_.quantised(Requantise{}, {builder_.input(dims)}, form.type, form.quantisation()),
        form,
        channels,
        size,
        {}};
    for (const float number : input_.data) image.integers.push_back(rounded(number, form));
    return image;
  }

  Image conv(const Image& x, int64_t kernel, const Form& form, graph::Activation function = {}) {
    const int64_t channels = x.channels, pad = kernel / 2, filter = channels * kernel * kernel;
    const std::vector<int8_t> weights = bytes(static_cast<size_t>(channels * filter));
    graph::Quantisation scales;
    for (int64_t i = 0; i < channels; ++i)
      scales.scales.push_back(scales_ == Scales::kUneven
                                  ? 0.002134871f + 0.000371293f * static_cast<float>(i % 5)
                                  : std::ldexp(1.0f, static_cast<int>(i % 3) - 10));
    scales.zero_points.assign(static_cast<size_t>(channels), 0);
    const auto weight = builder_.quantised_constant({channels, channels, kernel, kernel},
                                                    DataType::kInt8, weights, scales);
    const auto id = builder_.quantised(conv2d(pad, 1, 1, function), {x.id, weight}, form.type,
                                       form.quantisation());
    Image y{id, form, channels, x.size, {}};
    for (int64_t m = 0; m < channels; ++m)
      for (int64_t at = 0; at < x.size * x.size; ++at) {
        double sum = 0;
        for (int64_t tap = 0; tap < filter; ++tap)
          sum += weights[static_cast<size_t>(m * filter + tap)] *
                 step_at(x, tap / (kernel * kernel), at / x.size + tap / kernel % kernel - pad,
                         at % x.size + tap % kernel - pad);
        const double number = sum * x.form.scale * scales.scales[static_cast<size_t>(m)];
        const bool is_cut = function.kind == UnaryKind::kRelu && number < 0;
        y.integers.push_back(rounded(is_cut ? 0 : number, form));
      }
    return y;
  }

  Image add(const Image& a, const Image& b, const Form& form) {
    const auto id = builder_.quantised(graph::Binary{graph::BinaryKind::kAdd}, {a.id, b.id},
                                       form.type, form.quantisation());
    Image y{id, form, a.channels, a.size, {}};
    for (size_t i = 0; i < a.integers.size(); ++i)
      y.integers.push_back(rounded(a.number(i) + b.number(i), form));
    return y;
  }

  // Expects the device to compute these integers, with so many additions by steps of their own.
  // Returns the implementations of its steps.
  std::vector<std::string> check(const Image& y, size_t additions) {
    builder_.output(builder_.node(Requantise{}, {y.id}));
    const auto program = load(builder_.build());
    EXPECT_EQ(count_steps(*program, "Binary"), additions);
    const Tensor result = run(*program, {input_})[0];
    size_t different = 0;
    for (size_t i = 0; i < result.data.size(); ++i)
      different += rounded(result.data[i], y.form) != y.integers[i];
    EXPECT_EQ(different, 0u) << "of " << result.data.size();
    const auto [least, greatest] = std::ranges::minmax(y.integers);
    EXPECT_GT(greatest - least, 50) << "the network has something to say";
    return implementations(*program);
  }

 private:
  static int step_at(const Image& x, int64_t channel, int64_t row, int64_t column) {
    if (row < 0 || column < 0 || row >= x.size || column >= x.size) return 0;
    const int64_t at = (channel * x.size + row) * x.size + column;
    return x.integers[static_cast<size_t>(at)] - x.form.zero_point;
  }

  std::vector<int8_t> bytes(size_t count) {
    std::vector<int8_t> bytes;
    for (const float number : Tensor::numbers({static_cast<int64_t>(count)}, ++seed_).data)
      bytes.push_back(static_cast<int8_t>(number * 127));
    return bytes;
  }

  const Scales scales_;
  ModelBuilder builder_;
  Tensor input_;
  uint32_t seed_ = 100;
};

// Scales without a common factor: sums do not lie halfway between two steps, where FP32 may take
// either.
constexpr Form kX{DataType::kUint8, 0.008172943f, 121};
constexpr Form kMade{DataType::kUint8, 0.019317851f, 117};  // so small that numbers saturate
constexpr Form kSum{DataType::kInt8, 0.021736419f, -9};
constexpr Form kCut{DataType::kUint8, 0.013251637f, 0};

class QuantisedSums : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!topology().features.avx512_vnni) GTEST_SKIP() << "sums are computed in FP32 here";
  }
  Network network;
};

TEST_F(QuantisedSums, AreRoundedAsTheModelSays) {
  Image x = network.input(16, 9, kX);
  for (int block = 0; block < 3; ++block) {
    const Image inner = network.conv(x, 3, kCut, {UnaryKind::kRelu, 0, 0});
    x = network.add(network.conv(inner, 1, kMade), x, kSum);
  }
  network.check(x, 0);
}

TEST_F(QuantisedSums, OfTwoConvolutionsAreComputedByTheLater) {
  const Image x = network.input(16, 7, kX);
  const Image a = network.conv(x, 1, kMade), b = network.conv(x, 3, kSum);
  network.check(network.add(a, b, kSum), 0);
}

TEST_F(QuantisedSums, MayComeBeforeTheirOtherOperand) {
  const Image x = network.input(16, 7, kX);
  const Image a = network.conv(x, 1, kMade);
  const Image twice = network.add(x, x, kSum);
  network.check(network.add(twice, a, kSum), 1);
}

TEST_F(QuantisedSums, WithTheOperandOfTheConvolutionLeaveThatAlone) {
  const Image x = network.input(16, 7, kX);
  const Image y = network.conv(x, 1, kMade);
  network.check(network.add(network.conv(y, 1, kMade), y, kSum), 0);
}

TEST_F(QuantisedSums, OfAValueThatIsReadAgainAreComputedApart) {
  const Image x = network.input(16, 7, kX);
  const Image a = network.conv(x, 1, kMade);
  network.check(network.add(network.add(a, x, kSum), a, kSum), 2);
}

TEST_F(QuantisedSums, OfAFunctionOfTheConvolution) {
  const Image x = network.input(16, 7, kX);
  const Image a = network.conv(x, 3, kCut, {UnaryKind::kRelu, 0, 0});
  network.check(network.add(x, a, kSum), 0);
}

// There are few products, so the loops compute them on every processor that has their instructions.
TEST_F(QuantisedSums, OfWholeVectorsOfChannelsAreRoundedAsTheModelSays) {
  const Image x = network.input(64, 9, kX);
  const Image inner = network.conv(x, 1, kCut, {UnaryKind::kRelu, 0, 0});
  const Image sum = network.add(network.conv(inner, 1, kMade), x, kSum);
  const auto steps = network.check(network.add(sum, network.conv(sum, 1, kMade), kCut), 0);
  EXPECT_THAT(steps, Contains("Conv millrace:pointwise").Times(3));
}

TEST_F(QuantisedSums, OfChannelsThatFillNoVectorsAreLeftToTheLibrary) {
  const Image x = network.input(80, 9, kX);
  const auto steps = network.check(network.add(network.conv(x, 1, kMade), x, kSum), 0);
  EXPECT_THAT(steps, Not(Contains("Conv millrace:pointwise")));
}

// There are enough products for AMX to be faster, where the processor has it.
TEST_F(QuantisedSums, OfManyProductsAreRoundedAsTheModelSays) {
  constexpr Form kImage{DataType::kUint8, 1 / 128.0f, 121}, kInner{DataType::kUint8, 1 / 64.0f, 0},
      kResult{DataType::kUint8, 1 / 32.0f, 117}, kAdded{DataType::kInt8, 1 / 16.0f, -9};
  Network large(Scales::kPowersOfTwo);
  const Image x = large.input(128, 40, kImage);
  const Image inner = large.conv(x, 1, kInner, {UnaryKind::kRelu, 0, 0});
  const Image sum = large.add(large.conv(inner, 1, kResult), x, kAdded);
  const auto steps = large.check(large.add(sum, large.conv(sum, 1, kResult), kInner), 0);
  if (topology().features.amx_bf16) {
    EXPECT_THAT(steps, Contains("Conv millrace:pointwise-amx").Times(3));
  } else {
    EXPECT_THAT(steps, Contains("Conv millrace:pointwise").Times(3));
  }
}

}  // namespace
}  // namespace millrace::device::cpu
