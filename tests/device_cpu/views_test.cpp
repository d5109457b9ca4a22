// The ways a caller may bind a boundary tensor, and what the bytes look like afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tensor/conversion/conversion.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Precision;
using graph::ValueId;
using tensor::DataType;
using tensor::Layout;
using tensor::TensorDesc;

constexpr graph::UnaryKind kAbs = graph::UnaryKind::kAbs;

// A convolution from `channels` to `filters`, whose weights have few digits.
ModelBuilder conv_model(Precision precision, int64_t channels, int64_t filters) {
  ModelBuilder builder(precision);
  const graph::Conv op{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {graph::UnaryKind::kRelu, 0, 0}};
  builder.output(builder.node(op, {builder.input({1, channels, 6, 11}),
                                   builder.constant(Tensor::numbers({filters, channels, 3, 3}, 2)),
                                   builder.constant(Tensor::numbers({filters}, 3))}));
  return builder;
}

// Memory of one view, `shift` bytes past a 64-byte boundary, filled with `byte`.
class Memory {
 public:
  Memory(const TensorDesc& desc, size_t shift, int byte)
      : storage_(desc.bytes() + 128),
        data_(storage_.data() + 64 - reinterpret_cast<uintptr_t>(storage_.data()) % 64 + shift),
        size_(desc.bytes()) {
    std::memset(storage_.data(), byte, storage_.size());
  }
  std::byte* data() { return data_; }
  std::vector<std::byte> bytes() const { return {data_, data_ + size_}; }
  // Bytes outside the tensor that are not what they were filled with.
  size_t touched_outside(int byte) const {
    size_t count = 0;
    for (const std::byte& at : storage_) {
      const bool inside = &at >= data_ && &at < data_ + size_;
      count += !inside && at != static_cast<std::byte>(byte) ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_;
  size_t size_;
};

constexpr int kGarbage = 0xff;  // NaN in every floating point type

class Layouts : public ::testing::TestWithParam<std::tuple<int64_t, Precision, Layout>> {};

// Padding lanes of the input hold NaN here: nothing may depend on them, and the padding lanes of
// the output are zero whatever was there before.
TEST_P(Layouts, CarryTheSameValues) {
  const auto [channels, precision, layout] = GetParam();
  ModelBuilder builder = conv_model(precision, channels, channels);
  const Tensor x = Tensor::numbers({1, channels, 6, 11}, 1);
  const Tensor expected = run_model(builder.build(), {x});
  builder.set_hw_layout(Direction::kInput, 0, layout);
  builder.set_hw_layout(Direction::kOutput, 0, layout);
  const auto model = builder.build();
  const auto program = load(model);
  const TensorDesc &in_desc = *model->inputs[0].hw, &out_desc = *model->outputs[0].hw;
  const auto conversion = tensor::Conversion::plan(model->inputs[0].cpu, in_desc, {}).value();

  for (size_t shift : {size_t{0}, tensor::size_of(in_desc.type)}) {
    Memory in(in_desc, shift, kGarbage), out(out_desc, shift, kGarbage);
    std::vector<std::byte> zero_padded(in_desc.bytes()), ones(in_desc.bytes());
    conversion.to_hw(x.data.data(), zero_padded.data());
    const Tensor one = map(x, [](float) { return 1.0f; });
    conversion.to_hw(one.data.data(), ones.data());
    const size_t element = tensor::size_of(in_desc.type);
    for (size_t i = 0; i < in_desc.elements(); ++i)
      if (std::memcmp(&ones[i * element], "\0\0\0\0", element) != 0)
        std::memcpy(in.data() + i * element, &zero_padded[i * element], element);
    const std::vector<std::byte> before = in.bytes();

    const auto context = program->create_context().value();
    const Binding inputs[] = {{in.data(), View::kHw}}, outputs[] = {{out.data(), View::kHw}};
    test::TestRun control;
    ASSERT_TRUE(context->run(inputs, outputs, control).ok());
    EXPECT_EQ(in.bytes(), before) << "inputs are read only";
    EXPECT_EQ(in.touched_outside(kGarbage) + out.touched_outside(kGarbage), 0u);

    Tensor y = expected;
    std::vector<std::byte> again(out_desc.bytes());
    conversion.to_cpu(out.data(), y.data.data());
    EXPECT_EQ(y.data, expected.data);
    // Back again gives zeros in the padding; so the output must hold them too.
    conversion.to_hw(y.data.data(), again.data());
    EXPECT_EQ(out.bytes(), again);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Layouts,
    ::testing::Combine(::testing::Values(3, 4, 10, 12, 24, 32),
                       ::testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                       ::testing::Values(Layout::kHcwnc4, Layout::kHcwnc8, Layout::kHcwnc16,
                                         Layout::kNchw, Layout::kNhwc)),
    [](const auto& info) {
      return "Channels" + std::to_string(std::get<0>(info.param)) +
             name_of(std::get<1>(info.param)) +
             std::string(tensor::to_string(std::get<2>(info.param)));
    });

TEST(Views, OfAnFp32ProgramGiveTheSameBits) {
  for (int64_t channels : {3, 16, 21}) {
    const auto program = load(conv_model(Precision::kFp32, channels, 21).build());
    ASSERT_TRUE(program->accepts(Direction::kInput, 0, View::kCpu));
    ASSERT_TRUE(program->accepts(Direction::kOutput, 0, View::kCpu));
    const Tensor x = Tensor::numbers({1, channels, 6, 11}, 1);
    EXPECT_EQ(run(*program, {x}, View::kCpu)[0].data, run(*program, {x}, View::kHw)[0].data);
  }
}

TEST(Views, OfA16BitProgramAreTheHwViewsOnly) {
  for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
    const auto program = load(conv_model(precision, 3, 16).build());
    EXPECT_TRUE(program->accepts(Direction::kInput, 0, View::kHw));
    EXPECT_TRUE(program->accepts(Direction::kOutput, 0, View::kHw));
    EXPECT_FALSE(program->accepts(Direction::kInput, 0, View::kCpu));
    EXPECT_FALSE(program->accepts(Direction::kOutput, 0, View::kCpu));
  }
}

TEST(Views, OneContextTakesAnotherViewInEveryRun) {
  const auto model = conv_model(Precision::kFp32, 10, 21).build();
  const auto program = load(model);
  const auto context = program->create_context().value();
  const auto to_hw_in =
      tensor::Conversion::plan(model->inputs[0].cpu, *model->inputs[0].hw, {}).value();
  const auto to_hw_out =
      tensor::Conversion::plan(model->outputs[0].cpu, *model->outputs[0].hw, {}).value();
  for (uint32_t round = 0; round < 8; ++round) {
    const Tensor x = Tensor::numbers({1, 10, 6, 11}, round);
    const std::vector<float> expected = run(*program, {x})[0].data;
    const View in_view = (round & 1) != 0 ? View::kHw : View::kCpu;
    const View out_view = (round & 2) != 0 ? View::kHw : View::kCpu;
    Memory in(in_view == View::kHw ? *model->inputs[0].hw : model->inputs[0].cpu, 0, kGarbage);
    Memory out(out_view == View::kHw ? *model->outputs[0].hw : model->outputs[0].cpu, 0, kGarbage);
    if (in_view == View::kHw)
      to_hw_in.to_hw(x.data.data(), in.data());
    else
      std::memcpy(in.data(), x.data.data(), x.data.size() * sizeof(float));
    const Binding inputs[] = {{in.data(), in_view}}, outputs[] = {{out.data(), out_view}};
    test::TestRun control;
    ASSERT_TRUE(context->run(inputs, outputs, control).ok());
    std::vector<float> y(expected.size());
    if (out_view == View::kHw)
      to_hw_out.to_cpu(out.data(), y.data());
    else
      std::memcpy(y.data(), out.data(), y.size() * sizeof(float));
    EXPECT_EQ(y, expected) << "round " << round;
  }
}

TEST(Views, OfOtherRanksArePermuted) {
  const Tensor x = Tensor::numbers({2, 3, 5}, 1);
  for (Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kFp16}) {
    ModelBuilder builder(precision);
    builder.output(builder.node(graph::Unary{{kAbs, 0, 0}}, {builder.input(x.dims)}));
    builder.set_hw_layout(Direction::kInput, 0, Layout::kNhc);
    builder.set_hw_layout(Direction::kOutput, 0, Layout::kNhc);
    EXPECT_EQ(run_model(builder.build(), {x}).data,
              map(x, [](float v) { return std::fabs(v); }).data);
  }
}

TEST(Views, OfHalfFloatsHoldWhatTheyCan) {
  const Tensor x = Tensor::numbers({1, 3, 4, 4}, 1);
  ModelBuilder builder;
  builder.output(
      builder.node(graph::Unary{{kAbs, 0, 0}}, {builder.input(x.dims, DataType::kFp16)}));
  const auto program = load(builder.build());
  EXPECT_EQ(run(*program, {x})[0].data, map(x, [](float v) { return std::fabs(v); }).data);
}

// Graphs whose boundary tensors are not simply the first and last of a chain.
class BoundaryShape : public ::testing::TestWithParam<Precision> {
 protected:
  const Tensor x_ = Tensor::numbers({1, 16, 4, 4}, 1);
  const Tensor abs_ = map(x_, [](float v) { return std::fabs(v); });
  const Tensor neg_ = map(x_, [](float v) { return -std::fabs(v); });
  ModelBuilder builder_{GetParam()};
  const ValueId input_ = builder_.input(x_.dims);

  ValueId same(ValueId id) {
    return builder_.node(graph::Unary{{graph::UnaryKind::kIdentity, 0, 0}}, {id});
  }
  ValueId abs() { return builder_.node(graph::Unary{{kAbs, 0, 0}}, {input_}); }
  std::vector<Tensor> run_all() { return run(*load(builder_.build()), {x_}); }
};

TEST_P(BoundaryShape, AnOutputThatIsAnInput) {
  builder_.output(same(input_));
  builder_.output(abs());
  const auto y = run_all();
  EXPECT_EQ(y[0].data, x_.data);
  EXPECT_EQ(y[1].data, abs_.data);
}

TEST_P(BoundaryShape, AnOutputThatIsUsedInside) {
  const ValueId a = abs();
  builder_.output(a);
  builder_.output(builder_.node(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {a}));
  const auto y = run_all();
  EXPECT_EQ(y[0].data, abs_.data);
  EXPECT_EQ(y[1].data, neg_.data);
}

TEST_P(BoundaryShape, OneValueAsTwoOutputs) {
  const ValueId a = abs();
  builder_.output(a);
  builder_.output(same(a));
  const auto y = run_all();
  EXPECT_EQ(y[0].data, abs_.data);
  EXPECT_EQ(y[1].data, abs_.data);
}

TEST_P(BoundaryShape, AnOutputThatIsAReshapedOutput) {
  const ValueId a = abs();
  builder_.output(a);
  builder_.output(builder_.node(graph::Reshape{{16, 16}}, {a}));
  const auto y = run_all();
  EXPECT_EQ(y[0].data, abs_.data);
  EXPECT_EQ(y[1].data, abs_.data);
}

TEST_P(BoundaryShape, AnOutputThatIsPartOfAnother) {
  const ValueId a = abs();
  builder_.output(a);
  builder_.output(builder_.node(graph::Slice{{0, 0, 0, 0}, {1, 4, 4, 4}, {1, 1, 1, 1}}, {a}));
  builder_.output(builder_.node(graph::Concat{1}, {a, a}));
  const auto y = run_all();
  EXPECT_EQ(y[0].data, abs_.data);
  EXPECT_EQ(y[1].data, std::vector<float>(abs_.data.begin(), abs_.data.begin() + 64));
  std::vector<float> twice = abs_.data;
  twice.insert(twice.end(), abs_.data.begin(), abs_.data.end());
  EXPECT_EQ(y[2].data, twice);
}

TEST_P(BoundaryShape, AnOutputThatIsAConstant) {
  const Tensor constant = Tensor::numbers({1, 5, 3, 3}, 4);
  builder_.output(same(builder_.constant(constant)));
  builder_.output(abs());
  const auto y = run_all();
  EXPECT_EQ(y[0].data, constant.data);
  EXPECT_EQ(y[1].data, abs_.data);
}

TEST_P(BoundaryShape, AnInputThatIsNotRead) {
  builder_.input({7});
  builder_.output(abs());
  EXPECT_EQ(run(*load(builder_.build()), {x_, Tensor::zeros({7})})[0].data, abs_.data);
}

INSTANTIATE_TEST_SUITE_P(All, BoundaryShape,
                         ::testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Binding, ThatDoesNotFitIsRefused) {
  const auto program = load(conv_model(Precision::kBf16, 3, 16).build());
  const auto context = program->create_context().value();
  std::vector<std::byte> memory(1 << 16);
  const Binding good{memory.data(), View::kHw}, wrong_view{memory.data(), View::kCpu},
      null{nullptr, View::kHw};
  const auto run_with = [&](std::vector<Binding> inputs, std::vector<Binding> outputs) {
    test::TestRun control;
    return context->run(inputs, outputs, control).code();
  };
  EXPECT_EQ(run_with({good}, {good}), StatusCode::kOk);
  EXPECT_EQ(run_with({}, {good}), StatusCode::kInvalidArgument);
  EXPECT_EQ(run_with({good}, {good, good}), StatusCode::kInvalidArgument);
  EXPECT_EQ(run_with({null}, {good}), StatusCode::kInvalidArgument);
  EXPECT_EQ(run_with({good}, {wrong_view}), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::device::cpu
