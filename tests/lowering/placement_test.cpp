#include "lowering/placement.h"

#include <gmock/gmock.h>

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
    const auto partitions = place_nodes(maker.graph, cpu_operators);
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

TEST_F(PlaceNodes, ANameThatMatchesNothingIsRefusedWithThoseThatDo) {
  maker.output(softmax(maker.unary(UnaryKind::kTanh, maker.input({1, 3, 4, 4}))));
  const Status status = place_nodes(maker.graph, {"Softmax", "Sofmax", "Conv"}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("no operator 'Conv', 'Sofmax'"),
                                      HasSubstr("are: Softmax, Tanh, Unary")));
}

}  // namespace
}  // namespace millrace::lowering
