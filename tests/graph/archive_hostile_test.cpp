// Archives that are well-formed but say something wrong: each is made from a valid model by one
// change, and must be refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graph/archive/codec.h"
#include "model/archive_generated.h"
#include "tests/graph/all_operators_model.h"

namespace millrace::graph {
namespace {

using ::testing::HasSubstr;

struct HostileCase {
  std::string name;
  std::function<void(CompiledModel&)> change;
  std::string reason;  // part of the message
};

ValueId output_of(const CompiledModel& model, size_t node) {
  return model.graph.nodes[node].outputs[0];
}

template <class Op>
Op& first(CompiledModel& model) {
  for (Node& node : model.graph.nodes) {
    if (auto* op = std::get_if<Op>(&node.op)) return *op;
  }
  return std::get<Op>(model.graph.nodes.at(model.graph.nodes.size()).op);
}

std::vector<HostileCase> summary_cases() {
  return {
      {"BatchZero", [](auto& m) { m.batch_size = 0; }, "batch size 0"},
      {"BatchHuge", [](auto& m) { m.batch_size = 0xffffffff; }, "batch size 4294967295"},
      {"PrecisionUnknown", [](auto& m) { m.precision = static_cast<Precision>(9); },
       "precision 9 does not exist"},
      {"ProfilesOfAStaticModel",
       [](auto& m) {
         m.profiles = {{"p", {}}};
       },
       "no network"},
      {"NameNotUtf8", [](auto& m) { m.name = "\xff\xfe"; }, "UTF-8"},
      {"NameOverlongUtf8", [](auto& m) { m.graph.values[0].name = "\xc0\xaf"; }, "UTF-8"},
      {"NameSurrogate", [](auto& m) { m.graph.nodes[0].name = "\xed\xa0\x80"; }, "UTF-8"},
      {"NameCutUtf8", [](auto& m) { m.graph.nodes[0].name = "caf\xc3"; }, "UTF-8"},
  };
}

std::vector<HostileCase> graph_cases() {
  return {
      {"InputIdOutOfRange", [](auto& m) { m.graph.nodes[0].inputs[0] = 123456; }, "123456"},
      {"OutputIdOutOfRange", [](auto& m) { m.graph.nodes[0].outputs[0] = 123456; }, "123456"},
      {"Cycle", [](auto& m) { m.graph.nodes[0].inputs[0] = output_of(m, 1); }, "before it is made"},
      {"ReadsItself", [](auto& m) { m.graph.nodes[0].inputs[0] = output_of(m, 0); },
       "before it is made"},
      {"MadeTwice", [](auto& m) { m.graph.nodes[1].outputs = m.graph.nodes[0].outputs; }, "twice"},
      {"MakesAConstant", [](auto& m) { m.graph.nodes[0].outputs[0] = m.graph.nodes[0].inputs[1]; },
       "constant"},
      {"NoOutput", [](auto& m) { m.graph.nodes[0].outputs.clear(); }, "0 outputs"},
      {"NoInputs", [](auto& m) { m.graph.nodes[0].inputs.clear(); }, "inputs"},
      {"WrongShape", [](auto& m) { m.graph.values[output_of(m, 0)].shape[3] = 9; }, "gives"},
      {"WrongType",
       [](auto& m) { m.graph.values[output_of(m, 0)].type = tensor::DataType::kInt32; }, "gives"},
      {"TypeUnknown", [](auto& m) { m.graph.values[0].type = static_cast<tensor::DataType>(77); },
       "data type 77 does not exist"},
      {"NegativeDimension", [](auto& m) { m.graph.values[0].shape[0] = -1; }, "dimension below 0"},
      {"ElementsOverflow", [](auto& m) { m.graph.values[0].shape = Dims(4, int64_t{1} << 32); },
       "elements"},
      {"RankHuge", [](auto& m) { m.graph.values[0].shape = Dims(5000, 1); }, "rank 5000"},
      {"ConstantTooShort",
       [](auto& m) { m.graph.values[m.graph.nodes[0].inputs[1]].shape[0] = 80; }, "constant of"},
      {"OutputListedTwice", [](auto& m) { m.outputs[1].value = m.outputs[0].value; }, "twice"},
      {"InputListedTwice", [](auto& m) { m.inputs[1].value = m.inputs[0].value; }, "twice"},
      {"ConstantAsInput", [](auto& m) { m.inputs[0].value = m.graph.nodes[0].inputs[1]; },
       "constant"},
      {"OutputOutOfRange", [](auto& m) { m.outputs[0].value = kNoValue; }, "4294967295"},
  };
}

std::vector<HostileCase> operator_cases() {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  return {
      {"StrideZero", [](auto& m) { first<Conv>(m).strides[0] = 0; }, "strides"},
      {"StridesMissing", [](auto& m) { first<Conv>(m).strides.clear(); }, "strides"},
      {"GroupZero", [](auto& m) { first<Conv>(m).group = 0; }, "groups"},
      {"DilationHuge", [](auto& m) { first<Conv>(m).dilations[0] = kHuge; }, "dilations"},
      {"ActivationUnknown",
       [](auto& m) { first<Conv>(m).activation.kind = static_cast<UnaryKind>(200); },
       "activation 200 does not exist"},
      {"PoolKindUnknown", [](auto& m) { first<Pool>(m).kind = static_cast<PoolKind>(2); },
       "pool kind 2 does not exist"},
      {"BinaryKindUnknown", [](auto& m) { first<Binary>(m).kind = static_cast<BinaryKind>(8); },
       "binary kind 8 does not exist"},
      {"CastToUnknown", [](auto& m) { first<Cast>(m).to = static_cast<tensor::DataType>(14); },
       "data type 14 does not exist"},
      {"AxisOutside", [](auto& m) { first<Softmax>(m).axis = kHuge; }, "axis"},
      {"SliceOutside", [](auto& m) { first<Slice>(m).begin[1] = kHuge; }, "begin"},
      {"SliceWrapsAround",
       [](auto& m) {
         constexpr int64_t kStep = int64_t{1} << 32;  // 2^32 such steps are 0 in 64 bits
         Node& node = m.graph.nodes[0];
         node.inputs.resize(1);
         node.op = Slice{{0}, {kStep + 1}, {kStep}};
         m.graph.values[node.inputs[0]].shape = {int64_t{1} << 40};
       },
       "step 4294967296 leave"},
      {"NoPermutation",
       [](auto& m) {
         first<Transpose>(m).permutation = {0, 0, 0, 0, 0};
       },
       "permutation"},
      {"ReshapeOther", [](auto& m) { first<Reshape>(m).shape[0] = 2; }, "elements"},
      {"PadHuge", [](auto& m) { first<Pad>(m).end[0] = kHuge; }, "end"},
      {"ScaleNotANumber", [](auto& m) { first<Resize>(m).scales[3] = std::nanf(""); }, "scale"},
  };
}

std::vector<HostileCase> boundary_cases() {
  using tensor::Layout;
  return {
      {"CpuShapeOther", [](auto& m) { m.inputs[0].cpu.shape[1] = 3; }, "CPU view"},
      {"CpuTypeOther", [](auto& m) { m.inputs[0].cpu.type = tensor::DataType::kInt8; }, "CPU view"},
      {"CpuLayoutOther", [](auto& m) { m.inputs[0].cpu.layout = Layout::kNhwc; }, "CPU view"},
      {"OrderNoPermutation",
       [](auto& m) {
         m.inputs[1].cpu.order = {0, 7};
       },
       "CPU view"},
      {"LayoutUnknown", [](auto& m) { m.inputs[0].hw->layout = static_cast<Layout>(20); },
       "layout 20 does not exist"},
      {"LayoutNotOffered", [](auto& m) { m.inputs[0].hw->layout = Layout::kNc4hw4; }, "NC4HW4"},
      {"HwShapeOther", [](auto& m) { m.inputs[0].hw->shape[0] = 1u << 31; }, "HW view"},
      {"HwTypeUnknown", [](auto& m) { m.inputs[0].hw->type = tensor::DataType::kUnknown; },
       "data type"},
      {"HwOrderOther",
       [](auto& m) {
         m.inputs[1].hw->order = {1, 0};
       },
       "HW view"},
      {"HwIntegersThatTheGraphDoesNotMake",
       [](auto& m) {
         m.inputs[0].hw = tensor::make_hw_desc(m.inputs[0].cpu, tensor::DataType::kInt8).value();
       },
       "what the graph quantises"},
      {"HwNameOther", [](auto& m) { m.inputs[0].hw->name = "other"; }, "HW view"},
      {"ScaleZero", [](auto& m) { m.inputs[0].quant.scale = 0; }, "scale"},
      {"ScaleInfinite",
       [](auto& m) { m.inputs[0].quant.scale = std::numeric_limits<double>::infinity(); }, "scale"},
      {"RoundingUnknown",
       [](auto& m) { m.inputs[0].quant.rounding = static_cast<tensor::Rounding>(3); },
       "rounding 3 does not exist"},
      {"NameEmpty", [](auto& m) { m.inputs[0].cpu.name = m.inputs[0].hw->name = ""; }, "no name"},
      {"NamedTwice",
       [](auto& m) { m.inputs[1].cpu.name = m.inputs[1].hw->name = m.inputs[0].cpu.name; },
       "two inputs are named"},
  };
}

std::vector<HostileCase> partition_cases() {
  return {
      {"PartitionGap", [](auto& m) { ++m.partitions[1].first; }, "partition 1"},
      {"PartitionEmpty", [](auto& m) { m.partitions[1].count = 0; }, "partition 1"},
      {"PartitionBeyond", [](auto& m) { m.partitions[1].count = 0xffffffff; }, "partition 1"},
      {"PartitionMissing", [](auto& m) { m.partitions.pop_back(); }, "cover"},
      {"HwViewOfAnInputOnTheCpu", [](auto& m) { m.partitions[0].kind = PartitionKind::kCpu; },
       "a partition off the NPU reads it"},
      {"HwViewOfAnOutputOnTheCpu",
       [](auto& m) {
         for (auto& input : m.inputs) input.hw.reset();
         m.partitions[0].kind = PartitionKind::kCpu;
       },
       "a partition off the NPU makes it"},
      {"CollectivePartitionOfOthers",
       [](auto& m) { m.partitions[1].kind = PartitionKind::kCollective; },
       "is in a partition of kind collective"},
      {"PartitionKindUnknown",
       [](auto& m) { m.partitions[0].kind = static_cast<PartitionKind>(5); },
       "partition kind 5 does not exist"},
  };
}

std::vector<HostileCase> plan_cases() {
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  return {
      {"ArenaHuge", [](auto& m) { m.arena_bytes = kHuge; }, "arena of"},
      {"RangeBeyondArena", [](auto& m) { m.plan[0].offset = m.arena_bytes; }, "outside the arena"},
      {"RangeOverflows", [](auto& m) { m.plan[0].offset = kHuge - 63; }, "outside the arena"},
      {"RangeBytesHuge", [](auto& m) { m.plan[0].bytes = kHuge; }, "outside the arena"},
      {"RangeMisaligned", [](auto& m) { m.plan[0].offset += 4; }, "multiple of 64"},
      {"RangeTooSmall", [](auto& m) { m.plan[0].bytes = 4; }, "needs"},
      {"RangeOfNothing", [](auto& m) { m.plan[0].value = kNoValue; }, "4294967295"},
      {"RangeOfAConstant", [](auto& m) { m.plan[0].value = m.graph.nodes[0].inputs[1]; },
       "constant"},
      {"TwoRanges", [](auto& m) { m.plan.push_back(m.plan[0]); }, "two ranges"},
      {"Overlap",
       [](auto& m) {
         // An average reads its operand for every element it writes.
         for (PlannedValue& range : m.plan) {
           if (range.value == output_of(m, 2)) range.offset = m.plan[1].offset;
         }
       },
       "share memory"},
  };
}

class HostileArchive : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileArchive, IsRefusedWithTheReason) {
  CompiledModel model = test::all_operators_model();
  GetParam().change(model);
  const auto bytes = archive_bytes(encode(model));
  auto archive = model::Archive::from_memory(bytes, nullptr);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  const Status status = decode(*archive).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr(GetParam().reason));
}

const auto kCaseName = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Summary, HostileArchive, ::testing::ValuesIn(summary_cases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Graph, HostileArchive, ::testing::ValuesIn(graph_cases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(Operators, HostileArchive, ::testing::ValuesIn(operator_cases()),
                         kCaseName);
INSTANTIATE_TEST_SUITE_P(Boundaries, HostileArchive, ::testing::ValuesIn(boundary_cases()),
                         kCaseName);
INSTANTIATE_TEST_SUITE_P(Partitions, HostileArchive, ::testing::ValuesIn(partition_cases()),
                         kCaseName);
INSTANTIATE_TEST_SUITE_P(Plan, HostileArchive, ::testing::ValuesIn(plan_cases()), kCaseName);

// A structure of a few kilobytes whose lists name one table again and again.
std::vector<uint8_t> repetitive_structure(std::span<const model::SegmentInfo>) {
  namespace format = model::format;
  constexpr size_t kRepetitions = 50;
  flatbuffers::FlatBufferBuilder builder;
  const Dims shape(200, 1);
  const auto value = format::CreateValueDirect(builder, "value", format::DataType::Float32, &shape);
  const std::vector<flatbuffers::Offset<format::Value>> values(kRepetitions, value);
  const std::vector<flatbuffers::Offset<format::Node>> nodes;
  const std::vector<flatbuffers::Offset<format::Boundary>> boundaries;
  const std::vector<format::Partition> partitions;
  const std::vector<format::PlannedValue> plan;
  const std::vector<flatbuffers::Offset<format::Segment>> segments;
  format::FinishArchiveBuffer(
      builder,
      format::CreateArchiveDirect(builder, "", "", format::Precision::Fp32, 1, &values, &nodes,
                                  &boundaries, &boundaries, &partitions, &plan, 0, &segments));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

TEST(HostileStructure, CannotUnfoldToMoreThanItsSize) {
  const auto bytes = model::archive_bytes({{}, repetitive_structure});
  auto archive = model::Archive::from_memory(bytes, nullptr);
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  const Status status = decode(*archive).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruptData);
  EXPECT_THAT(status.message(), HasSubstr("more than once"));
}

}  // namespace
}  // namespace millrace::graph
