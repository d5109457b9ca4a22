#include "lowering/placement/placement.h"

#include <gmock/gmock.h>

#include "device/cpu/capabilities/capabilities.h"
#include "tests/lowering/passes/graph_maker.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Partition;
using graph::PartitionKind;
using graph::UnaryKind;
using graph::ValueId;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PlaceNodes : public ::testing::Test {
 protected:
  // Partitions as "NPU2 CPU1": kind and number of nodes.
  std::string partitions_with(const CpuOperators& cpu_operators) {
    const auto partitions = place_nodes(maker.graph, device::cpu::capabilities(), cpu_operators);
    EXPECT_TRUE(partitions.ok()) << partitions.status().to_string();
    EXPECT_TRUE(graph::validate(maker.graph).ok()) << "values are used before they are made";
    std::string text;
    uint32_t next = 0;
    for (const Partition& partition : *partitions) {
      EXPECT_EQ(partition.first, next);
      next += partition.count;
      text += graph::name_of(partition.kind) + std::to_string(partition.count) + " ";
    }
    return text;
  }
  std::vector<std::string> nodes() const {
    std::vector<std::string> names;
    for (const graph::Node& node : maker.graph.nodes) names.push_back(node.name);
    return names;
  }
  ValueId softmax(ValueId x) { return maker.add(graph::Softmax{1, false}, {x}); }

  GraphMaker maker;
};

TEST_F(PlaceNodes, AllNodesAreOneNpuPartitionUnlessToldOtherwise) {
  maker.output(softmax(maker.conv(maker.input({1, 3, 4, 4}), 4)));
  EXPECT_EQ(partitions_with({}), "NPU2 ");
}

TEST_F(PlaceNodes, AChainIsCutWhereTheKindChanges) {
  maker.output(maker.conv(softmax(maker.conv(maker.input({1, 3, 4, 4}), 4)), 4));
  EXPECT_EQ(partitions_with({"Softmax"}), "NPU1 CPU1 NPU1 ");
}

TEST_F(PlaceNodes, BranchesShareTheirPartitions) {
  const ValueId x = maker.input({1, 3, 4, 4});
  maker.output(softmax(maker.conv(x, 4)));  // n0, n1
  maker.output(softmax(maker.conv(x, 4)));  // n2, n3
  EXPECT_EQ(partitions_with({"Softmax"}), "NPU2 CPU2 ");
  EXPECT_THAT(nodes(), ElementsAre("n0", "n2", "n1", "n3"));
}

TEST_F(PlaceNodes, TheCpuGoesFirstWhereThatSavesAPartition) {
  const ValueId image = maker.conv(maker.input({1, 3, 4, 4}), 3);  // n0, may wait
  const ValueId other = softmax(maker.input({1, 3, 4, 4}));        // n1
  maker.output(maker.binary(BinaryKind::kAdd, image, other));      // n2
  EXPECT_EQ(partitions_with({"Softmax"}), "CPU1 NPU2 ");
  EXPECT_THAT(nodes(), ElementsAre("n1", "n0", "n2"));
}

TEST_F(PlaceNodes, AnElementwiseOperatorIsNamedByWhatItComputes) {
  const ValueId x = maker.input({1, 3, 4, 4});
  maker.output(maker.unary(UnaryKind::kExp, maker.unary(UnaryKind::kTanh, x)));
  EXPECT_EQ(partitions_with({"Exp"}), "NPU1 CPU1 ");
  EXPECT_EQ(partitions_with({"Unary"}), "CPU2 ");
}

// A fallback operator whose result has the type and shape of its operand.
ValueId fallback_of(GraphMaker& maker, const char* name, ValueId x) {
  const graph::Value& value = maker.graph.values[x];
  const ValueId y = maker.graph.add_value({name, value.type, value.shape, {}});
  maker.graph.nodes.push_back({name, graph::Fallback{name, {}}, {x}, {y}});
  return y;
}

TEST_F(PlaceNodes, FallbacksWithFastKernelsStayOnTheNpu) {
  const ValueId x = maker.conv(maker.input({1, 16, 8, 8}), 16);
  maker.output(maker.conv(fallback_of(maker, "Gelu", x), 16));
  EXPECT_EQ(partitions_with({}), "NPU3 ");
  EXPECT_EQ(partitions_with({"Gelu"}), "NPU1 CPU1 NPU1 ");
}

TEST_F(PlaceNodes, OnlyForTheTypesThatTheNpuKeeps) {
  const ValueId numbers = maker.input({16, 16}, tensor::DataType::kInt32);
  maker.output(fallback_of(maker, "Gelu", numbers));
  EXPECT_EQ(partitions_with({}), "CPU1 ");
}

TEST_F(PlaceNodes, AnIslandOfLittleWorkGoesToTheCpuWithItsNeighbours) {
  const ValueId x = fallback_of(maker, "Celu", maker.input({16, 1, 8, 8}));
  maker.output(fallback_of(maker, "Celu", maker.unary(UnaryKind::kTanh, x)));
  EXPECT_EQ(partitions_with({}), "CPU3 ");
}

// Asking about each of them must not look at all the others again.
TEST_F(PlaceNodes, TensOfThousandsOfIslandsAreGivenUp) {
  ValueId x = maker.input({16, 1, 8, 8});
  for (int i = 0; i < 40000; ++i) x = maker.unary(UnaryKind::kTanh, fallback_of(maker, "Celu", x));
  maker.output(fallback_of(maker, "Celu", x));
  EXPECT_EQ(partitions_with({}), "CPU80001 ");
}

TEST_F(PlaceNodes, AnIslandOfMuchWorkStaysOnTheNpu) {
  const ValueId x = fallback_of(maker, "Celu", maker.input({1, 64, 8, 8}));
  maker.output(fallback_of(maker, "Celu", maker.conv(x, 64, 3)));
  EXPECT_EQ(partitions_with({}), "CPU1 NPU1 CPU1 ");
}

// On the CPU the tensor would have no HW view.
TEST_F(PlaceNodes, AnIslandThatMakesAnOutputStaysOnTheNpu) {
  const ValueId x = fallback_of(maker, "Celu", maker.input({16, 1, 8, 8}));
  const ValueId y = maker.unary(UnaryKind::kTanh, x);
  maker.output(y);
  maker.output(fallback_of(maker, "Celu", y));
  EXPECT_EQ(partitions_with({}), "CPU1 NPU1 CPU1 ");
}

TEST_F(PlaceNodes, IslandsBetweenOperatorsThatWereForcedToTheCpuStay) {
  const ValueId x = softmax(maker.conv(maker.input({1, 3, 4, 4}), 4));
  maker.output(maker.conv(softmax(maker.unary(UnaryKind::kTanh, x)), 4));
  EXPECT_EQ(partitions_with({"Softmax"}), "NPU1 CPU1 NPU1 CPU1 NPU1 ");
}

TEST_F(PlaceNodes, CollectivesArePartitionsOfTheirOwn) {
  const ValueId x = maker.conv(maker.input({1, 3, 4, 4}), 4);
  const ValueId sum = fallback_of(maker, "com.microsoft.AllReduce", x);
  maker.output(fallback_of(maker, "Celu", maker.unary(UnaryKind::kTanh, sum)));
  EXPECT_EQ(partitions_with({}), "NPU1 collective1 NPU1 CPU1 ");
  EXPECT_THAT(place_nodes(maker.graph, device::cpu::capabilities(), {"com.microsoft.AllReduce"})
                  .status()
                  .message(),
              HasSubstr("'com.microsoft.AllReduce' names the collective"));
}

constexpr const char* kAllReduce = "com.microsoft.AllReduce";  // also the node's name

ValueId all_reduce(GraphMaker& maker, ValueId x) {
  return fallback_of(maker, kAllReduce, x);
}

TEST_F(PlaceNodes, WhatACollectiveDoesNotNeedRunsBesideIt) {
  const ValueId x = maker.input({2, 3});
  const ValueId beside = maker.unary(UnaryKind::kAbs, maker.unary(UnaryKind::kExp, x));  // n0, n1
  const ValueId sum = all_reduce(maker, maker.unary(UnaryKind::kRelu, x));               // n2, n3
  maker.output(maker.binary(BinaryKind::kAdd, sum, beside));                             // n4
  EXPECT_EQ(partitions_with({}), "NPU1 collective1 NPU3 ");
  EXPECT_THAT(nodes(), ElementsAre("n2", kAllReduce, "n0", "n1", "n4"));
}

TEST_F(PlaceNodes, WhatALaterCollectiveNeedsRunsBesideTheOneInFront) {
  const ValueId x = maker.input({2, 3});
  const ValueId first = all_reduce(maker, maker.unary(UnaryKind::kRelu, x));       // n0, n1
  const ValueId after = maker.unary(UnaryKind::kExp, first);                       // n2
  const ValueId beside = maker.unary(UnaryKind::kAbs, x);                          // n3
  maker.output(all_reduce(maker, maker.binary(BinaryKind::kAdd, after, beside)));  // n4, n5
  EXPECT_EQ(partitions_with({}), "NPU1 collective1 NPU3 collective1 ");
  EXPECT_THAT(nodes(), ElementsAre("n0", kAllReduce, "n3", "n2", "n4", kAllReduce));
}

// The graph is like a transformer whose attention and feed-forward network have the same input.
TEST_F(PlaceNodes, ABranchRunsBesideTheCollectiveOfAnother) {
  const ValueId x = maker.input({2, 3});
  const ValueId one = maker.unary(UnaryKind::kRelu, x), other = maker.unary(UnaryKind::kExp, x);
  maker.output(maker.binary(BinaryKind::kAdd, all_reduce(maker, one), all_reduce(maker, other)));
  EXPECT_EQ(partitions_with({}), "NPU1 collective1 NPU1 collective1 NPU1 ");
}

TEST_F(PlaceNodes, AMergedNodeIsNamedByAnyOfItsOrigins) {
  maker.output(softmax(maker.conv(maker.input({1, 3, 4, 4}), 4)));
  maker.graph.nodes[0].origins = {{"stem/conv", "Conv"}, {"stem/clip", "Clip"}};
  maker.graph.nodes[1].origins = {{"Clip_7", "Softmax"}};
  EXPECT_EQ(partitions_with({"Clip"}), "CPU1 NPU1 ");
  EXPECT_EQ(partitions_with({"stem/clip"}), "CPU1 NPU1 ");
  EXPECT_EQ(partitions_with({"Clip_7"}), "NPU1 CPU1 ");
  EXPECT_THAT(matching_names(maker.graph.nodes[0], {"Clip", "Conv", "Softmax"}),
              ElementsAre("Clip", "Conv"));
}

TEST_F(PlaceNodes, ANameThatMatchesNothingIsRefusedWithThoseThatDo) {
  maker.output(softmax(maker.unary(UnaryKind::kTanh, maker.input({1, 3, 4, 4}))));
  const Status status =
      place_nodes(maker.graph, device::cpu::capabilities(), {"Softmax", "Sofmax", "Conv"}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("no operator 'Conv', 'Sofmax'"),
                                      HasSubstr("are: Softmax, Tanh, Unary")));
}

}  // namespace
}  // namespace millrace::lowering
