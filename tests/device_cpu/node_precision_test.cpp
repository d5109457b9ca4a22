// Nodes that compute in another precision than their program.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::CompiledModel;
using graph::PartitionKind;
using graph::Precision;
using graph::ValueId;

constexpr PartitionKind kNpu = PartitionKind::kNpu, kCpu = PartitionKind::kCpu;

ValueId conv(ModelBuilder& builder, ValueId x, int64_t from, int64_t to, uint32_t seed) {
  return builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
                      {x, builder.constant(Tensor::numbers({to, from, 3, 3}, seed))});
}

// Conv -> MaxPool -> Conv -> Add of the MaxPool's result, where the third node is on `third`. The
// first and the last result are outputs. Callers see FLOAT32 only, so that nothing is rounded
// outside of the nodes.
CompiledModel four_nodes(Precision precision, PartitionKind third = kNpu) {
  ModelBuilder builder(precision);
  builder.begin_partition(kNpu);
  const ValueId first = conv(builder, builder.input({1, 3, 6, 6}), 3, 20, 1);
  const graph::Pool pool{
      graph::PoolKind::kMax, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false};
  const ValueId second = builder.node(pool, {first});
  builder.begin_partition(third);
  const ValueId convolved = conv(builder, second, 20, 20, 2);
  builder.begin_partition(kNpu);
  builder.output(builder.node(graph::Binary{graph::BinaryKind::kAdd}, {convolved, second}));
  builder.output(first);
  CompiledModel model = *builder.build();
  for (auto* side : {&model.inputs, &model.outputs})
    for (graph::Boundary& boundary : *side) boundary.hw.reset();
  return model;
}

constexpr unsigned kMarks = 1u << 4;  // the ways to mark four nodes

CompiledModel marked(CompiledModel model, unsigned marks, Precision precision = Precision::kFp32) {
  for (size_t i = 0; i < model.graph.nodes.size(); ++i)
    if ((marks >> i & 1) != 0) model.graph.nodes[i].precision = precision;
  return model;
}

std::vector<Tensor> outputs_of(CompiledModel model, const Tensor& x) {
  return run(*load(std::make_shared<const CompiledModel>(std::move(model))), {x}, View::kCpu);
}

// Not exact in BF16.
const Tensor kImage = map(Tensor::numbers({1, 3, 6, 6}, 7), [](float v) { return v * 1.001f; });

TEST(NodePrecision, Fp32OfAllNodesGivesTheBitsOfAnFp32Program) {
  const auto expected = outputs_of(four_nodes(Precision::kFp32), kImage);
  const auto actual = outputs_of(marked(four_nodes(Precision::kBf16), kMarks - 1), kImage);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].data, expected[i].data);
}

TEST(NodePrecision, Fp32OfAnyNodesComputesTheSameNetwork) {
  const auto expected = outputs_of(four_nodes(Precision::kFp32), kImage);
  for (const PartitionKind third : {kNpu, kCpu}) {
    for (unsigned marks = 0; marks < kMarks; ++marks) {
      SCOPED_TRACE(marks);
      const auto actual = outputs_of(marked(four_nodes(Precision::kBf16, third), marks), kImage);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i)
        expect_close(actual[i], expected[i], tolerance_of(Precision::kBf16));
    }
  }
}

// The first output is made by a node of FP32, so no other node may spoil it.
TEST(NodePrecision, IsNotLostToNodesThatReadTheResult) {
  const auto expected = outputs_of(four_nodes(Precision::kFp32), kImage);
  const auto actual = outputs_of(marked(four_nodes(Precision::kBf16), 1), kImage);
  EXPECT_EQ(actual[1].data, expected[1].data);
}

TEST(NodePrecision, Bf16OfAllNodesGivesTheBitsOfABf16Program) {
  const auto expected = outputs_of(four_nodes(Precision::kBf16), kImage);
  const auto actual =
      outputs_of(marked(four_nodes(Precision::kFp32), kMarks - 1, Precision::kBf16), kImage);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].data, expected[i].data);
}

// A value is converted where the precision changes, and once for all that read it.
TEST(NodePrecision, OnlyItsChangesTakeConversions) {
  const auto conversions = [](unsigned marks) {
    ModelBuilder builder(Precision::kBf16);
    ValueId x = builder.input({1, 3, 6, 6});
    for (uint32_t i = 0; i < 4; ++i) x = builder.node(graph::Unary{{graph::UnaryKind::kTanh}}, {x});
    builder.output(x);
    const auto program =
        load(std::make_shared<const CompiledModel>(marked(*builder.build(), marks)));
    const ProgramInfo info = program->info();
    return std::ranges::count_if(info.steps, [](const StepInfo& step) {
      return step.node.empty() && step.reason.find("only where") == std::string::npos;
    });
  };
  if (load(std::make_shared<const CompiledModel>(four_nodes(Precision::kBf16)))->info().precision !=
      Precision::kBf16)
    GTEST_SKIP() << "this processor has no BF16";
  EXPECT_EQ(conversions(0b0000), 0);
  EXPECT_EQ(conversions(0b1000), 1);
  EXPECT_EQ(conversions(0b0110), 2);
  EXPECT_EQ(conversions(0b0101), 3);
}

TEST(NodePrecision, IsWhatTheStepsOfTheNodesSay) {
  for (unsigned marks = 0; marks < kMarks; ++marks) {
    const auto model =
        std::make_shared<const CompiledModel>(marked(four_nodes(Precision::kBf16), marks));
    const ProgramInfo info = load(model)->info();
    if (info.precision != Precision::kBf16) GTEST_SKIP() << info.note;
    for (const graph::Node& node : model->graph.nodes) {
      const auto step = std::ranges::find(info.steps, node.name, &StepInfo::node);
      ASSERT_NE(step, info.steps.end());
      EXPECT_EQ(step->precision, node.precision.value_or(Precision::kBf16));
    }
  }
}

}  // namespace
}  // namespace millrace::device::cpu
