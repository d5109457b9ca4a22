#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

const PassContext kBf16{graph::Precision::kBf16};
const PassContext kFp16{graph::Precision::kFp16};

class ConvertWeights : public ::testing::Test {
 protected:
  // Numbers that BF16 holds exactly, so that results stay the same.
  ConvertWeights() {
    const Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
    const ValueId x = maker.input({1, 2, 2, 2}),
                  weight = maker.constant({2, 2, 1, 1}, {1, 2, 3, -4});
    y = maker.add(conv, {x, weight, maker.constant({2}, {0.1f, 0.2f})});
  }
  GraphMaker maker;
  ValueId y;
};

tensor::DataType type_of_operand(const Graph& graph, size_t node, size_t operand) {
  return graph.values[graph.nodes[node].inputs[operand]].type;
}

TEST_F(ConvertWeights, WeightsBecomeBf16AndBiasesStay) {
  maker.output(y);
  const Graph after = run_pass(convert_weights, maker.graph, kBf16);
  EXPECT_EQ(type_of_operand(after, 0, 1), tensor::DataType::kBf16);
  EXPECT_EQ(type_of_operand(after, 0, 2), tensor::DataType::kFloat32);
  EXPECT_THAT(after.values[after.nodes[0].inputs[1]].constant->as<uint16_t>(),
              ElementsAre(0x3f80, 0x4000, 0x4040, 0xc080));
}

TEST_F(ConvertWeights, GraphsOfOneModelShareTheirWeights) {
  maker.output(y);
  DerivedConstants derived;
  PassContext context = kBf16;
  context.derived = &derived;
  const auto weight = [&] {
    const Graph after = run_pass(convert_weights, maker.graph, context);
    return *after.values[after.nodes[0].inputs[1]].constant;
  };
  const graph::Constant first = weight();
  EXPECT_EQ(weight().bytes.data(), first.bytes.data());
}

// A model's weights must never be in memory twice.
TEST_F(ConvertWeights, ElementsThatNothingReadsAreGivenUp) {
  maker.output(y);
  const ValueId weight = maker.graph.nodes[0].inputs[1];
  Graph graph = maker.graph;
  ASSERT_TRUE(convert_weights(graph, kBf16).ok());
  EXPECT_FALSE(graph.values[weight].constant);
  maker.output(maker.unary(UnaryKind::kAbs, weight));
  graph = maker.graph;
  ASSERT_TRUE(convert_weights(graph, kBf16).ok());
  EXPECT_TRUE(graph.values[weight].constant);
}

TEST_F(ConvertWeights, WeightsBecomeFp16InAnFp16Program) {
  maker.output(y);
  const Graph after = run_pass(convert_weights, maker.graph, kFp16);
  EXPECT_EQ(type_of_operand(after, 0, 1), tensor::DataType::kFp16);
  EXPECT_EQ(type_of_operand(after, 0, 2), tensor::DataType::kFloat32);
  EXPECT_THAT(after.values[after.nodes[0].inputs[1]].constant->as<uint16_t>(),
              ElementsAre(0x3c00, 0x4000, 0x4200, 0xc400));
}

TEST_F(ConvertWeights, AWeightBeyondTheRangeOfFp16Stays) {
  const ValueId large = maker.constant({2, 2}, {1, 2, 3, 65520});  // rounds to infinity
  const ValueId largest = maker.constant({2, 2}, {1, 2, 3, -65504});
  const ValueId x = maker.input({2, 2});
  maker.output(maker.add(MatMul{}, {maker.add(MatMul{}, {x, large}), largest}));
  Graph graph = maker.graph;
  ASSERT_TRUE(convert_weights(graph, kFp16).ok());
  EXPECT_EQ(type_of_operand(graph, 1, 1), tensor::DataType::kFloat32);
  EXPECT_EQ(type_of_operand(graph, 2, 1), tensor::DataType::kFp16);
}

TEST_F(ConvertWeights, NotForFp32Programs) {
  maker.output(y);
  const Graph after = run_pass(convert_weights, maker.graph, {graph::Precision::kFp32});
  EXPECT_EQ(type_of_operand(after, 0, 1), tensor::DataType::kFloat32);
}

TEST_F(ConvertWeights, NotForOperatorsOnTheCpu) {
  maker.output(y);
  const Graph after =
      run_pass(convert_weights, maker.graph, {graph::Precision::kBf16, {"Conv", "Softmax"}});
  EXPECT_EQ(type_of_operand(after, 0, 1), tensor::DataType::kFloat32);
}

TEST_F(ConvertWeights, AsThePrecisionOfTheNodeSays) {
  maker.output(y);
  for (const auto& [own, program, type] :
       {std::tuple(graph::Precision::kFp32, kBf16, tensor::DataType::kFloat32),
        {graph::Precision::kBf16, PassContext(), tensor::DataType::kBf16}}) {
    Graph graph = maker.graph;
    graph.nodes[0].precision = own;
    ASSERT_TRUE(convert_weights(graph, program).ok());
    EXPECT_EQ(type_of_operand(graph, 0, 1), type);
  }
}

TEST_F(ConvertWeights, OfNodesOfSeveralPrecisionsInEach) {
  const ValueId x = maker.input({2, 2}), weight = maker.constant({2, 2}, {1, 2, 3, -4});
  for (int i = 0; i < 3; ++i) maker.output(maker.add(MatMul{}, {x, weight}));
  Graph graph = maker.graph;
  graph.nodes[2].precision = graph::Precision::kFp32;
  ASSERT_TRUE(convert_weights(graph, kBf16).ok());
  EXPECT_EQ(type_of_operand(graph, 1, 1), tensor::DataType::kBf16);
  EXPECT_EQ(type_of_operand(graph, 2, 1), tensor::DataType::kFloat32);
  EXPECT_EQ(graph.nodes[3].inputs[1], graph.nodes[1].inputs[1]) << "one copy for both";
}

TEST_F(ConvertWeights, RoundsToNearestEven) {
  // 1 + 1/256 lies halfway between two BF16 numbers, 1 + 3/256 too.
  const ValueId weight = maker.constant({2, 1}, {1 + 1.0f / 256, 1 + 3.0f / 256});
  maker.output(maker.add(MatMul{}, {maker.input({1, 2}), weight}));
  Graph graph = maker.graph;
  ASSERT_TRUE(convert_weights(graph, kBf16).ok());
  EXPECT_THAT(graph.values[graph.nodes[1].inputs[1]].constant->as<uint16_t>(),
              ElementsAre(0x3f80, 0x3f82));
}

TEST_F(ConvertWeights, ASharedWeightIsStoredOnceAndOtherReadersKeepTheirs) {
  const ValueId b = maker.constant({2, 2}, {1, 2, 3, 4});
  const ValueId product = maker.add(MatMul{}, {maker.input({2, 2}), b});
  const ValueId again = maker.add(MatMul{}, {product, b});
  maker.output(maker.binary(BinaryKind::kAdd, again, b));
  const Graph after = run_pass(convert_weights, maker.graph, kBf16);
  EXPECT_EQ(after.nodes[0].inputs[1], after.nodes[1].inputs[1]);
  EXPECT_EQ(type_of_operand(after, 0, 1), tensor::DataType::kBf16);
  EXPECT_EQ(type_of_operand(after, 2, 1), tensor::DataType::kFloat32);
}

TEST_F(ConvertWeights, AWeightComputedAtRunTimeStays) {
  maker.output(maker.add(MatMul{}, {maker.input({2, 2}), maker.input({2, 2})}));
  run_pass(convert_weights, maker.graph, kBf16);
}

}  // namespace
}  // namespace millrace::lowering
