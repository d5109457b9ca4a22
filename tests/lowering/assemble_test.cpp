#include "lowering/assemble.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "graph/archive/codec.h"
#include "tests/lowering/passes/graph_maker.h"

namespace millrace::lowering {
namespace {

using graph::CompiledModel;
using graph::Precision;
using graph::UnaryKind;
using graph::ValueId;
using tensor::DataType;
using tensor::Layout;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Image [1,3,8,8] -> Conv -> Conv -> Conv with the first as residual -> Tanh -> [1,24,8,8].
class AssembleTest : public ::testing::Test {
 protected:
  AssembleTest() {
    first = maker.conv(maker.input({1, 3, 8, 8}), 24, 3);
    const ValueId last = maker.conv(maker.conv(first, 24, 3), 24, 3);
    auto& inputs = maker.graph.nodes.back().inputs;
    inputs = {inputs[0], inputs[1], graph::kNoValue, first};
    maker.output(maker.unary(UnaryKind::kTanh, last));
  }

  CompiledModel assembled() {
    auto model = assemble(maker.graph, options, "tiny");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    return model.ok() ? *std::move(model) : CompiledModel();
  }

  Status failure() { return assemble(maker.graph, options, "tiny").status(); }

  GraphMaker maker;
  LoweringOptions options;
  ValueId first;
};

TEST_F(AssembleTest, ViewsOfAnImageInFp32) {
  const CompiledModel model = assembled();
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].cpu.type, DataType::kFloat32);
  EXPECT_EQ(model.inputs[0].cpu.layout, Layout::kNchw);
  ASSERT_TRUE(model.inputs[0].hw);
  EXPECT_EQ(model.inputs[0].hw->type, DataType::kFloat32);
  EXPECT_EQ(model.inputs[0].hw->layout, Layout::kHcwnc4);
  EXPECT_EQ(model.outputs[0].hw->layout, Layout::kHcwnc8);
}

TEST_F(AssembleTest, Bf16ProgramsHaveBf16HwViews) {
  options.precision = Precision::kBf16;
  const CompiledModel model = assembled();
  EXPECT_EQ(model.inputs[0].cpu.type, DataType::kFloat32);
  EXPECT_EQ(model.inputs[0].hw->type, DataType::kBf16);
  EXPECT_THAT(model.inputs[0].hw->shape, ElementsAre(8, 1, 8, 1, 4));
}

TEST_F(AssembleTest, HwViewsHoldWhatTheNodesAtThemCompute) {
  options.precision = Precision::kBf16;
  maker.graph.nodes.back().precision = Precision::kFp32;
  const CompiledModel last = assembled();
  EXPECT_EQ(last.inputs[0].hw->type, DataType::kBf16);
  EXPECT_EQ(last.outputs[0].hw->type, DataType::kFloat32);
  maker.graph.nodes.front().precision = Precision::kFp32;
  EXPECT_EQ(assembled().inputs[0].hw->type, DataType::kFloat32);
}

TEST_F(AssembleTest, AnInputThatNodesOfSeveralPrecisionsReadIsFp32) {
  options.precision = Precision::kBf16;
  maker.output(maker.unary(UnaryKind::kTanh, maker.graph.inputs[0]));
  EXPECT_EQ(assembled().inputs[0].hw->type, DataType::kBf16);
  maker.graph.nodes.front().precision = Precision::kFp32;
  EXPECT_EQ(assembled().inputs[0].hw->type, DataType::kFloat32);
}

TEST_F(AssembleTest, ValuesArePlannedInThePrecisionOfTheNodeThatMakesThem) {
  const auto bytes_of_first = [&] {
    const CompiledModel model = assembled();
    const auto entry = std::ranges::find(model.plan, first, &graph::PlannedValue::value);
    return entry == model.plan.end() ? 0 : entry->bytes;
  };
  const uint64_t wide = bytes_of_first();
  maker.graph.nodes.front().precision = Precision::kBf16;
  EXPECT_EQ(bytes_of_first(), wide / 2);
}

TEST_F(AssembleTest, IntegerBoundariesKeepTheirType) {
  const ValueId indices = maker.input({2, 5}, DataType::kInt64);
  maker.output(maker.add(graph::Gather{0}, {maker.random({9, 4}), indices}));
  options.precision = Precision::kBf16;
  const CompiledModel model = assembled();
  EXPECT_EQ(model.inputs[1].hw->type, DataType::kInt64);
  EXPECT_EQ(model.inputs[1].hw->layout, Layout::kGeneric);
}

TEST_F(AssembleTest, WhatIsOnlyQuantisedHasIntegersAsHwView) {
  GraphMaker quantised;
  const ValueId x = quantised.input({1, 3, 8, 8});
  const ValueId y = quantised.conv(quantised.requantise(x, {{0.25f}, {7}}), 24, 3);
  quantised.output(quantised.dequantise(quantised.requantise(y, {{0.5f}, {-3}}, DataType::kInt8)));
  maker = quantised;
  const CompiledModel model = assembled();
  EXPECT_EQ(model.inputs[0].cpu.type, DataType::kFloat32);
  EXPECT_EQ(model.inputs[0].hw->type, DataType::kUint8);
  EXPECT_EQ(model.inputs[0].hw->layout, Layout::kHcwnc4);
  EXPECT_EQ(model.inputs[0].quant, (tensor::QuantParams{0.25, 7, tensor::Rounding::kNearestEven}));
  EXPECT_EQ(model.outputs[0].hw->type, DataType::kInt8);
  EXPECT_EQ(model.outputs[0].hw->layout, Layout::kHcwnc16);
  EXPECT_EQ(model.outputs[0].quant, (tensor::QuantParams{0.5, -3, tensor::Rounding::kNearestEven}));
}

TEST_F(AssembleTest, AnInputThatIsReadAsNumbersTooHasFloatsAsHwView) {
  maker.output(maker.dequantise(maker.requantise(maker.graph.inputs[0], {{0.25f}, {7}})));
  const CompiledModel model = assembled();
  EXPECT_EQ(model.inputs[0].hw->type, DataType::kFloat32);
  EXPECT_EQ(model.inputs[0].quant, tensor::QuantParams());
}

TEST_F(AssembleTest, LayoutsCanBeChosen) {
  options.hw_layouts["input0"] = {Layout::kNhwc};
  const CompiledModel model = assembled();
  EXPECT_EQ(model.inputs[0].hw->layout, Layout::kNhwc);
  EXPECT_THAT(model.inputs[0].hw->shape, ElementsAre(1, 8, 8, 3));
}

TEST_F(AssembleTest, AnUnknownTensorNameIsRefusedWithTheKnownOnes) {
  options.hw_layouts["inptu"] = {Layout::kNhwc};
  EXPECT_EQ(failure().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(failure().message(),
              AllOf(HasSubstr("'inptu'"), HasSubstr("input0"), HasSubstr("n3.out")));
}

TEST_F(AssembleTest, AnImpossibleLayoutIsRefused) {
  options.hw_layouts["input0"] = {Layout::kNc};
  EXPECT_EQ(failure().code(), StatusCode::kInvalidArgument);
}

TEST_F(AssembleTest, NoFramesAreRefused) {
  options.batch_size = 0;
  EXPECT_EQ(failure().code(), StatusCode::kInvalidArgument);
}

// A loader would refuse the archive.
TEST_F(AssembleTest, NamesThatNoArchiveHoldsAreRefused) {
  EXPECT_THAT(assemble(maker.graph, options, "caf\xe9").status().message(),
              HasSubstr("the name of the model is not valid UTF-8"));
  maker.graph.nodes[0].name = std::string("a\0b", 3);
  EXPECT_THAT(failure().message(), HasSubstr("the name of a node is not valid UTF-8"));
  maker.graph.nodes[0].name.clear();
  maker.graph.values[first].name = "\xff";
  EXPECT_THAT(failure().message(), HasSubstr("the name of a tensor is not valid UTF-8"));
  maker.graph.values[first].name.clear();
  EXPECT_TRUE(failure().ok());
  maker.graph.values[maker.graph.outputs[0]].name.clear();
  EXPECT_THAT(failure().message(), HasSubstr("an input or output has no name"));
}

TEST_F(AssembleTest, MoreMemoryThanALoaderAcceptsIsRefused) {
  GraphMaker large;
  const int64_t side = int64_t{1} << 20;
  large.output(
      large.unary(UnaryKind::kTanh, large.unary(UnaryKind::kTanh, large.input({side, side}))));
  const Status status = assemble(large.graph, options, "large").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("at most 1099511627776"));
}

TEST_F(AssembleTest, OnePartitionCoversAllNodes) {
  options.batch_size = 4;
  const CompiledModel model = assembled();
  ASSERT_EQ(model.partitions.size(), 1u);
  EXPECT_EQ(model.partitions[0].kind, graph::PartitionKind::kNpu);
  EXPECT_EQ(model.partitions[0].count, 4u);
  EXPECT_EQ(model.batch_size, 4u);
  EXPECT_EQ(model.name, "tiny");
}

TEST_F(AssembleTest, AnOutputThatTheCpuMakesHasNoHwView) {
  options.cpu_operators = {"Tanh"};
  const CompiledModel model = assembled();
  ASSERT_EQ(model.partitions.size(), 2u);
  EXPECT_EQ(model.partitions[1].kind, graph::PartitionKind::kCpu);
  EXPECT_TRUE(model.inputs[0].hw);
  EXPECT_FALSE(model.outputs[0].hw);
}

TEST_F(AssembleTest, AnInputThatTheCpuReadsHasNoHwViewEvenIfTheNpuReadsItToo) {
  maker.output(maker.unary(UnaryKind::kExp, maker.graph.inputs[0]));
  options.cpu_operators = {"Exp"};
  const CompiledModel model = assembled();
  EXPECT_FALSE(model.inputs[0].hw);
  EXPECT_TRUE(model.outputs[0].hw) << "the NPU makes it";
  EXPECT_FALSE(model.outputs[1].hw);
}

TEST_F(AssembleTest, ALayoutForATensorOnACpuPartitionIsRefusedWithTheReason) {
  options.cpu_operators = {"Tanh"};
  options.hw_layouts["n3.out"] = {Layout::kNhwc};
  EXPECT_EQ(failure().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(failure().message(),
              AllOf(HasSubstr("'n3.out'"), HasSubstr("CPU or collective partition"),
                    HasSubstr("no HW view")));
}

TEST_F(AssembleTest, AnUnknownCpuOperatorIsRefused) {
  options.cpu_operators = {"Softmax"};
  EXPECT_THAT(failure().message(), AllOf(HasSubstr("'Softmax'"), HasSubstr("Conv, Tanh, Unary")));
}

TEST_F(AssembleTest, ValuesOfCpuPartitionsArePlannedInFp32) {
  options.precision = Precision::kBf16;
  options.cpu_operators = {"Conv"};
  EXPECT_EQ(assembled().plan[0].bytes, 32u * 8 * 8 * 4);
}

TEST_F(AssembleTest, PlansWhatNodesHandOnWithChannelsRoundedUp) {
  const CompiledModel model = assembled();
  ASSERT_EQ(model.plan.size(), 3u) << "neither the input, nor weights, nor the output";
  EXPECT_EQ(model.plan[0].value, first);
  EXPECT_EQ(model.plan[0].bytes, 32u * 8 * 8 * 4);
  EXPECT_EQ(model.plan[2].offset, model.plan[0].offset) << "the Conv writes over its residual";
  EXPECT_EQ(model.arena_bytes, 2 * model.plan[0].bytes);
}

TEST_F(AssembleTest, Bf16ProgramsPlanHalfTheBytes) {
  options.precision = Precision::kBf16;
  EXPECT_EQ(assembled().plan[0].bytes, 32u * 8 * 8 * 2);
}

TEST_F(AssembleTest, AnOutputThatANodeReadsHasAPlaceToTheEnd) {
  maker.graph.outputs.push_back(first);
  const CompiledModel model = assembled();
  ASSERT_EQ(model.plan.size(), 3u);
  EXPECT_NE(model.plan[2].offset, model.plan[0].offset);
}

TEST_F(AssembleTest, TheArchiveReaderAgrees) {
  for (const auto& [precision, cpu_operators] :
       std::vector<std::pair<Precision, CpuOperators>>{{Precision::kFp32, {}},
                                                       {Precision::kBf16, {}},
                                                       {Precision::kFp32, {"Tanh"}},
                                                       {Precision::kBf16, {"Conv"}}}) {
    options.precision = precision;
    options.cpu_operators = cpu_operators;
    const CompiledModel model = assembled();
    const auto bytes =
        std::make_shared<std::vector<std::byte>>(model::archive_bytes(graph::encode(model)));
    const auto archive = model::Archive::from_memory(*bytes, bytes);
    ASSERT_TRUE(archive.ok()) << archive.status().to_string();
    const auto decoded = graph::decode(*archive);
    EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
  }
}

}  // namespace
}  // namespace millrace::lowering
