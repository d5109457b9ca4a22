// Models with CPU partitions: the same results, in FP32 where the CPU computes, and progress that
// names the partition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

using graph::PartitionKind;
using graph::Precision;
using graph::ValueId;
using ::testing::ElementsAre;

constexpr PartitionKind kNpu = PartitionKind::kNpu, kCpu = PartitionKind::kCpu;

ValueId conv(ModelBuilder& builder, ValueId x, int64_t from, int64_t to, uint32_t seed) {
  return builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
                      {x, builder.constant(Tensor::numbers({to, from, 3, 3}, seed))});
}

// Conv -> Softmax over the channels -> Conv, each a partition of the kind given for it; the first
// result is an output too.
std::shared_ptr<const graph::CompiledModel> sandwich(Precision precision,
                                                     const std::vector<PartitionKind>& kinds) {
  ModelBuilder builder(precision);
  builder.begin_partition(kinds[0]);
  const ValueId first = conv(builder, builder.input({1, 3, 6, 6}), 3, 20, 1);
  builder.begin_partition(kinds[1]);
  const ValueId middle = builder.node(graph::Softmax{1, false}, {first});
  builder.begin_partition(kinds[2]);
  builder.output(conv(builder, middle, 20, 5, 2));
  builder.output(first);
  return builder.build();
}

const Tensor kImage = Tensor::numbers({1, 3, 6, 6}, 7);

class CpuPartitions : public ::testing::TestWithParam<std::vector<PartitionKind>> {};

TEST_P(CpuPartitions, ComputeWhatTheNpuComputes) {
  const auto expected = run(*load(sandwich(Precision::kFp32, {kNpu, kNpu, kNpu})), {kImage});
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    const auto program = load(sandwich(precision, GetParam()));
    for (const View view : {View::kHw, View::kCpu}) {
      const auto actual = run(*program, {kImage}, view);
      ASSERT_EQ(actual.size(), 2u);
      for (size_t i = 0; i < 2; ++i) expect_close(actual[i], expected[i], tolerance_of(precision));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, CpuPartitions,
                         ::testing::Values(std::vector{kNpu, kCpu, kNpu},
                                           std::vector{kCpu, kNpu, kCpu},
                                           std::vector{kCpu, kNpu, kNpu},
                                           std::vector{kNpu, kNpu, kCpu},
                                           std::vector{kCpu, kCpu, kCpu}));

TEST(CpuPartition, OfABf16ModelComputesInFp32) {
  ModelBuilder builder(Precision::kBf16), exact(Precision::kFp32);
  for (ModelBuilder* model : {&builder, &exact}) {
    model->begin_partition(kCpu);
    model->output(conv(*model, model->input({1, 3, 6, 6}), 3, 20, 1));
  }
  // Between two BF16 numbers, so that rounding it would show.
  Tensor image = kImage;
  for (float& element : image.data) element *= 1.001f;
  expect_close(run_model(builder.build(), {image}), run_model(exact.build(), {image}), 1e-6);
}

TEST(CpuPartition, ReadsAnInputUnroundedThatTheNpuHasReadBefore) {
  ModelBuilder builder(Precision::kBf16);
  const ValueId x = builder.input({1, 3, 6, 6});
  builder.begin_partition(kNpu);
  builder.output(conv(builder, x, 3, 4, 1));
  builder.begin_partition(kCpu);
  builder.output(builder.node(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {x}));
  Tensor image = kImage;
  for (float& element : image.data) element *= 1.001f;
  const auto outputs = run(*load(builder.build()), {image});
  EXPECT_EQ(outputs[1].data, map(image, [](float element) { return -element; }).data);
}

TEST(CpuPartition, HandsIntegersOverAsTheyAre) {
  ModelBuilder builder(Precision::kBf16);
  builder.begin_partition(kCpu);
  const ValueId indices = builder.node(graph::Cast{tensor::DataType::kInt32}, {builder.input({4})});
  builder.begin_partition(kNpu);
  const ValueId table = builder.constant(Tensor::numbers({300, 2}, 1));
  builder.output(builder.node(graph::Gather{0}, {table, indices}));
  const Tensor rows{{4}, {299, 0, 257, 258}};  // 257 is no BF16 number
  const Tensor expected = Tensor::numbers({300, 2}, 1);
  const Tensor actual = run_model(builder.build(), {rows});
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(actual.data[2 * i], expected.at({static_cast<int64_t>(rows.data[i]), 0}));
}

TEST(CpuPartition, StepsSayInWhichPartitionTheyLie) {
  const auto program = load(sandwich(Precision::kBf16, {kNpu, kCpu, kNpu}));
  std::vector<std::vector<std::string>> nodes(3);
  uint32_t last = 0;
  for (const StepInfo& step : program->info().steps) {
    EXPECT_GE(step.partition, last) << step.operation;
    last = step.partition;
    if (!step.node.empty()) nodes.at(step.partition).push_back(step.operation);
  }
  EXPECT_THAT(nodes, ElementsAre(ElementsAre("Conv"), ElementsAre("Softmax"), ElementsAre("Conv")));
}

// The partitions that a run begins, and where it stood then.
class Begun final : public queue::ProgressObserver {
 public:
  void on_progress(const queue::RunControl& control) noexcept override {
    if (positions.empty() || positions.back().partition != control.position().partition)
      positions.push_back(control.position());
  }
  std::vector<queue::RunPosition> positions;
};

TEST(CpuPartition, RunsTellWhichPartitionTheyBegin) {
  const auto program = load(sandwich(Precision::kFp32, {kNpu, kCpu, kNpu}));
  std::vector<std::byte> image(program->model().inputs[0].hw->bytes());
  std::vector<std::byte> small(program->model().outputs[0].hw->bytes());
  std::vector<std::byte> large(program->model().outputs[1].hw->bytes());
  const Binding inputs[] = {{image.data(), View::kHw}};
  const Binding outputs[] = {{small.data(), View::kHw}, {large.data(), View::kHw}};
  test::TestRun control;
  Begun begun;
  const queue::ObserverScope observed(control, begun);
  ASSERT_TRUE(program->create_context().value()->run(inputs, outputs, control).ok());
  ASSERT_EQ(begun.positions.size(), 3u);
  const auto steps = program->info().steps;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(begun.positions[i].partition, i);
    EXPECT_EQ(steps[begun.positions[i].step].partition, i);
  }
}

}  // namespace
}  // namespace millrace::device::cpu
