// Tests what a loaded program says about itself, and that it may run on several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/process/topology.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

using graph::Dims;
using graph::Precision;
using graph::ValueId;
using tensor::DataType;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Two fire modules of a small SqueezeNet: convolutions, pools, a concatenation, a softmax.
std::shared_ptr<const graph::CompiledModel> network(Precision precision) {
  ModelBuilder builder(precision);
  uint32_t seed = 1;
  const auto conv = [&](ValueId x, int64_t from, int64_t to, int64_t kernel, int64_t stride) {
    Tensor weight = Tensor::numbers({to, from, kernel, kernel}, seed++);
    for (float& value : weight.data) value /= static_cast<float>(kernel * kernel);
    const Dims pad = {kernel / 2, kernel / 2};
    return builder.node(
        graph::Conv{{stride, stride}, {1, 1}, pad, pad, 1, {graph::UnaryKind::kRelu, 0, 0}},
        {x, builder.constant(weight), builder.constant(Tensor::numbers({to}, seed++))});
  };
  ValueId x = conv(builder.input({1, 3, 33, 33}), 3, 32, 3, 2);
  x = builder.node(
      graph::Pool{graph::PoolKind::kMax, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, false},
      {x});
  int64_t channels = 32;
  for (int64_t squeeze : {16, 32}) {
    const ValueId small = conv(x, channels, squeeze, 1, 1);
    x = builder.node(graph::Concat{1}, {conv(small, squeeze, 2 * squeeze, 1, 1),
                                        conv(small, squeeze, 2 * squeeze, 3, 1)});
    channels = 4 * squeeze;
  }
  x = builder.node(graph::GlobalPool{}, {conv(x, channels, 10, 1, 1)});
  x = builder.node(graph::Reshape{{1, 10}}, {x});
  builder.output(builder.node(graph::Softmax{1, false}, {x}));
  return builder.build();
}

TEST(ProgramInfo, NamesEveryStepWithItsKernel) {
  const auto program = load(network(Precision::kFp32));
  const ProgramInfo info = program->info();
  EXPECT_EQ(info.device, "cpu");
  EXPECT_EQ(info.precision, Precision::kFp32);
  EXPECT_EQ(info.note, "");
  EXPECT_GT(info.weight_bytes, 0u);
  EXPECT_GT(info.context_bytes, 0u);
  EXPECT_EQ(count_steps(*program, "Conv"), 8u);
  EXPECT_EQ(count_steps(*program, "Softmax"), 1u);
  for (const StepInfo& step : info.steps) {
    EXPECT_FALSE(step.operation.empty());
    EXPECT_THAT(step.implementation, AllOf(Not(::testing::IsEmpty()), Not(HasSubstr("ref"))));
  }
}

TEST(ProgramInfo, NamesTheTensorThatEachStepWrites) {
  ModelBuilder builder;
  const ValueId x = builder.input({1, 16, 4, 4});
  const ValueId conv = builder.node(
      graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kIdentity, 0, 0}},
      {x, builder.constant(Tensor::numbers({16, 16, 1, 1}, 1))});
  builder.output(builder.node(graph::Softmax{1, false}, {conv}));
  const auto model = builder.build();
  const auto written_by = [&](const ProgramInfo& info, const std::string& operation) {
    const auto step = std::ranges::find(info.steps, operation, &StepInfo::operation);
    return step == info.steps.end() ? "no such step" : step->output;
  };
  const ProgramInfo info = load(model)->info();
  EXPECT_EQ(written_by(info, "Conv"), model->graph.values[conv].name);
  EXPECT_EQ(written_by(info, "Softmax"), model->outputs[0].cpu.name);
  for (const StepInfo& step : info.steps) {
    EXPECT_FALSE(step.output.empty()) << step.operation;
    EXPECT_EQ(step.node.empty(), step.operation == "Reorder" || step.operation == "Convert");
  }
}

// Winograd's algorithm, which transforms weights, does not apply to a 1x1 convolution.
TEST(ProgramInfo, Bf16WeightsTakeHalfTheSpace) {
  if (!topology().features.avx512_bf16) GTEST_SKIP() << "no BF16 on this processor";
  const auto weight_bytes = [](Precision precision) {
    ModelBuilder builder(precision);
    const Tensor weight = Tensor::numbers({128, 64, 1, 1}, 1);
    builder.output(builder.node(
        graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kRelu, 0, 0}},
        {builder.input({1, 64, 8, 8}), builder.constant(weight)}));
    return load(builder.build())->info().weight_bytes;
  };
  EXPECT_LT(weight_bytes(Precision::kBf16), weight_bytes(Precision::kFp32) * 6 / 10);
}

TEST(ProgramInfo, Bf16ConvolutionsUseTilesWhereTheProcessorHasThem) {
  if (!topology().features.amx_bf16) GTEST_SKIP() << "no AMX on this processor";
  const auto program = load(network(Precision::kBf16));
  EXPECT_THAT(implementations(*program), Contains(AllOf(HasSubstr("Conv"), HasSubstr("amx"))));
}

class WithoutBf16 : public ::testing::Test {
 protected:
  WithoutBf16() {
    setenv("MILLRACE_NO_BF16", "1", 1);
    set_log_sink(
        [this](LogLevel, std::string_view, std::string_view line) { lines_.emplace_back(line); });
  }
  ~WithoutBf16() override {
    setenv("MILLRACE_NO_BF16", "0", 1);  // as all tests have it
    set_log_sink({});
  }
  std::vector<std::string> lines_;
};

TEST_F(WithoutBf16, ABf16ModelIsComputedInFp32AndSaysSo) {
  const auto program = load(network(Precision::kBf16));
  EXPECT_EQ(program->info().precision, Precision::kFp32);
  EXPECT_THAT(program->info().note, HasSubstr("FP32"));
  EXPECT_THAT(lines_, Contains(HasSubstr("FP32")));
  // The boundary stays as the archive says.
  EXPECT_TRUE(program->accepts(Direction::kInput, 0, View::kHw));
  EXPECT_FALSE(program->accepts(Direction::kInput, 0, View::kCpu));
  const Tensor x = Tensor::numbers({1, 3, 33, 33}, 1);
  expect_close(run(*program, {x})[0], run(*load(network(Precision::kFp32)), {x})[0], 1e-2);
}

TEST_F(WithoutBf16, WhereFp32IsFasterItIsUsedUnlessTheVariableInsists) {
  const CpuFeatures& features = topology().features;
  unsetenv("MILLRACE_NO_BF16");
  EXPECT_EQ(load(network(Precision::kBf16))->info().precision,
            features.fast_bf16 ? Precision::kBf16 : Precision::kFp32);
  EXPECT_EQ(lines_.empty(), features.fast_bf16);
  setenv("MILLRACE_NO_BF16", "0", 1);
  EXPECT_EQ(load(network(Precision::kBf16))->info().precision,
            features.avx512_bf16 ? Precision::kBf16 : Precision::kFp32);
}

TEST_F(WithoutBf16, AnFp32ModelIsNotMentioned) {
  EXPECT_EQ(load(network(Precision::kFp32))->info().note, "");
  EXPECT_THAT(lines_, ::testing::IsEmpty());
}

TEST(Load, NamesEveryNodeWithoutAKernel) {
  ModelBuilder builder;
  const ValueId x = builder.input({4}, DataType::kInt32);
  const ValueId a = builder.node(graph::Unary{{graph::UnaryKind::kAbs, 0, 0}}, {x});
  builder.output(builder.node(graph::Binary{}, {a, x}));
  const auto model = builder.build();
  const Status status = cpu_device().load(model).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  for (const graph::Node& node : model->graph.nodes)
    EXPECT_THAT(status.message(), HasSubstr(node.name));
}

// Threads with a context each get what a single one gets, bit for bit.
class Threads : public ::testing::TestWithParam<Precision> {};

TEST_P(Threads, ShareOneProgram) {
  constexpr uint32_t kThreads = 4, kRounds = 10;
  const auto program = load(network(GetParam()));
  const auto input = [](uint32_t thread, uint32_t round) {
    return Tensor::numbers({1, 3, 33, 33}, thread * kRounds + round);
  };
  std::vector<std::vector<float>> expected;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    for (uint32_t round = 0; round < kRounds; ++round)
      expected.push_back(run(*program, {input(thread, round)})[0].data);
  std::vector<std::vector<float>> actual(expected.size());
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (uint32_t round = 0; round < kRounds; ++round)
        actual[thread * kRounds + round] = run(*program, {input(thread, round)})[0].data;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(actual, expected);
}

TEST_P(Threads, MayLoadAtTheSameTime) {
  const Tensor x = Tensor::numbers({1, 3, 33, 33}, 1);
  const std::vector<float> expected = run_model(network(GetParam()), {x}).data;
  std::vector<std::vector<float>> actual(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& result : actual)
    threads.emplace_back([&] { result = run_model(network(GetParam()), {x}).data; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(actual, ::testing::Each(expected));
}

INSTANTIATE_TEST_SUITE_P(All, Threads, ::testing::Values(Precision::kFp32, Precision::kBf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(Context, OutlivesWhatItCameFrom) {
  const Tensor x = Tensor::numbers({1, 3, 33, 33}, 1);
  std::unique_ptr<Context> context;
  std::vector<float> in = x.data, out(10);
  {
    const auto program = load(network(Precision::kFp32));
    context = program->create_context().value();
  }
  const Binding inputs[] = {{in.data(), View::kCpu}}, outputs[] = {{out.data(), View::kCpu}};
  test::TestRun control;
  ASSERT_TRUE(context->run(inputs, outputs, control).ok());
  EXPECT_EQ(out, run_model(network(Precision::kFp32), {x}).data);
}

}  // namespace
}  // namespace millrace::device::cpu
