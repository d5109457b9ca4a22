// Tests HW views in the vendor's form: callers give and take the model's own integers, rounded once
// more, through them; the CPU views lose nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "graph/vendor_quantisation.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

using graph::BoundaryQuantisation;
using graph::Requantise;
using tensor::DataType;

BoundaryQuantisation form(DataType type, double scale, int zero_point) {
  return {type, {scale, zero_point, tensor::Rounding::kNearestEven}};
}

graph::Quantisation quantisation_of(const BoundaryQuantisation& form) {
  return {{static_cast<float>(form.parameters.scale)}, {form.parameters.zero_point}};
}

Tensor rounded(const Tensor& numbers, const BoundaryQuantisation& form) {
  return map(numbers,
             [&](float number) { return static_cast<float>(graph::nearest_number(form, number)); });
}

struct Case {
  const char* name;
  graph::Dims dims;
  BoundaryQuantisation own;
};

class RequantisedBoundary : public testing::TestWithParam<Case> {
 protected:
  RequantisedBoundary() {
    const auto& [name, dims, own] = GetParam();
    const auto x = builder_.input(dims);
    const auto q = builder_.quantised(Requantise{}, {x}, own.type, quantisation_of(own));
    builder_.output(builder_.node(Requantise{}, {q}));
    builder_.set_requantised(Direction::kInput, 0, own);
    builder_.set_requantised(Direction::kOutput, 0, own);
    // Some numbers are beyond both ends of the range.
    numbers_ = map(Tensor::numbers(dims, 1), [](float number) { return 4 * number; });
  }

  ModelBuilder builder_;
  Tensor numbers_;
};

void expect_equal(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  for (size_t i = 0; i < expected.data.size(); ++i)
    EXPECT_FLOAT_EQ(actual.data[i], expected.data[i]) << i;
}

TEST_P(RequantisedBoundary, HwViewsAreRoundedToTheFormOfBoth) {
  const BoundaryQuantisation own = GetParam().own, view = graph::vendor_form(own);
  ASSERT_NE(view, own);
  const Tensor expected = rounded(rounded(rounded(numbers_, view), own), view);
  expect_equal(run_model(builder_.build(), {numbers_}, View::kHw), expected);
}

TEST_P(RequantisedBoundary, CpuViewsAreRoundedToTheModelsFormOnly) {
  const auto program = load(builder_.build());
  EXPECT_TRUE(program->accepts(Direction::kInput, 0, View::kCpu));
  EXPECT_TRUE(program->accepts(Direction::kOutput, 0, View::kCpu));
  expect_equal(run(*program, {numbers_}, View::kCpu)[0], rounded(numbers_, GetParam().own));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, RequantisedBoundary,
    testing::Values(
        Case{"Picture", {1, 3, 9, 7}, form(DataType::kUint8, 0.018658f, 114)},
        Case{"BlocksOfChannels", {1, 32, 5, 3}, form(DataType::kUint8, 0.018658f, 114)},
        Case{"PaddedChannels", {1, 17, 5, 3}, form(DataType::kInt8, 0.0213f, -30)},
        Case{"PaddedChannelsWithoutZeroPoint", {1, 17, 5, 3}, form(DataType::kUint8, 0.013f, 0)},
        Case{"Vector", {2500}, form(DataType::kUint8, 0.018658f, 114)},
        Case{"Rows", {4, 1000}, form(DataType::kInt8, 0.0187f, 0)},
        Case{"Scalar", {}, form(DataType::kUint8, 0.018658f, 114)}),
    [](const auto& info) { return std::string(info.param.name); });

// The padding of the channels is zero for callers, whatever the model's zero point is.
TEST(RequantisedBoundaries, PaddingOfAnOutputIsZero) {
  for (const int zero_point : {0, 100}) {
    ModelBuilder b;
    const BoundaryQuantisation own = form(DataType::kUint8, 0.02f, zero_point);
    const auto q =
        b.quantised(Requantise{}, {b.input({1, 3, 2, 2})}, own.type, quantisation_of(own));
    b.output(b.node(Requantise{}, {q}));
    b.set_requantised(Direction::kInput, 0, own);
    b.set_requantised(Direction::kOutput, 0, own);
    const auto program = load(b.build());
    const double step = program->model().outputs[0].quant.scale;
    const auto one = static_cast<int8_t>(std::lround(1 / step));
    std::vector<int8_t> given(16, one), taken(16, 77);
    const Binding in{given.data(), View::kHw}, out{taken.data(), View::kHw};
    test::TestRun control;
    ASSERT_TRUE((*program->create_context())->run({&in, 1}, {&out, 1}, control).ok());
    for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i % 4 == 3 ? 0 : one) << i;
  }
}

// These channels need no padding, which would have to be zero.
TEST(RequantisedBoundaries, BytesBecomeBytesWithoutAStepForNumbers) {
  ModelBuilder b;
  const BoundaryQuantisation own = form(DataType::kUint8, 0.018658f, 114);
  const auto q =
      b.quantised(Requantise{}, {b.input({1, 32, 8, 8})}, own.type, quantisation_of(own));
  b.output(b.node(Requantise{}, {q}));
  b.set_requantised(Direction::kInput, 0, own);
  b.set_requantised(Direction::kOutput, 0, own);
  const auto program = load(b.build());
  EXPECT_EQ(count_steps(*program, "Requantise"), 2u);
  EXPECT_EQ(count_steps(*program, "Quantise"), 0u);
}

TEST(RequantisedBoundaries, OneInTheVendorsFormIsUsedInPlace) {
  ModelBuilder b;
  const BoundaryQuantisation own = form(DataType::kInt8, 0.03125, 0);
  const auto q = b.quantised(Requantise{}, {b.input({2, 64})}, own.type, quantisation_of(own));
  b.output(b.node(Requantise{}, {q}));
  b.set_requantised(Direction::kInput, 0, own);
  b.set_requantised(Direction::kOutput, 0, own);
  const auto program = load(b.build());
  EXPECT_FALSE(program->model().inputs[0].requantised);
  EXPECT_FALSE(program->accepts(Direction::kInput, 0, View::kCpu)) << "the runtime converts it";
  EXPECT_EQ(count_steps(*program, "Requantise"), 0u);
  EXPECT_EQ(count_steps(*program, "Convert"), 0u);
}

}  // namespace
}  // namespace millrace::device::cpu
