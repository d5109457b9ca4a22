#include "lowering/passes/edit.h"

#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

// x -> Relu -> a; a -> Abs -> b (output); a + a -> c (output)
class EditorTest : public ::testing::Test {
 protected:
  GraphMaker maker;
  ValueId x = maker.input({2});
  ValueId a = maker.unary(UnaryKind::kRelu, x);
  ValueId b = maker.unary(UnaryKind::kAbs, a);
  ValueId c = maker.binary(BinaryKind::kAdd, a, a);
};

TEST_F(EditorTest, KnowsMakersAndReaders) {
  maker.output(b);
  const Editor editor(maker.graph);
  EXPECT_EQ(editor.maker(x), std::nullopt);
  EXPECT_EQ(editor.maker(a), 0u);
  EXPECT_EQ(editor.maker(kNoValue), std::nullopt);
  EXPECT_NE(editor.maker_as<Unary>(a), nullptr);
  EXPECT_EQ(editor.maker_as<Binary>(a), nullptr);
  EXPECT_TRUE(editor.has_single_reader(x));
  EXPECT_FALSE(editor.has_single_reader(a));
  EXPECT_FALSE(editor.has_single_reader(b)) << "the caller reads a graph output";
}

TEST_F(EditorTest, OneNodeThatReadsTwiceIsNoSingleReader) {
  Editor editor(maker.graph);
  editor.erase(1);
  EXPECT_FALSE(editor.has_single_reader(a));
}

TEST_F(EditorTest, ErasingFreesTheOperands) {
  maker.output(b);
  Editor editor(maker.graph);
  editor.erase(2);
  EXPECT_TRUE(editor.has_single_reader(a));
  editor.finish();
  EXPECT_THAT(operators_of(maker.graph), ElementsAre("Relu", "Abs"));
}

TEST_F(EditorTest, InsertsInOrder) {
  maker.output(b);
  maker.output(c);
  Editor editor(maker.graph);
  const ValueId first = editor.add_value_like(a, "first");
  const ValueId second = editor.add_value_like(a, "second");
  editor.insert_before(1, {"first", Unary{{UnaryKind::kTanh, 0, 0}}, {a}, {first}});
  editor.insert_before(1, {"second", Unary{{UnaryKind::kExp, 0, 0}}, {first}, {second}});
  editor.set_inputs(1, {second});
  editor.finish();
  EXPECT_THAT(operators_of(maker.graph), ElementsAre("Relu", "Tanh", "Exp", "Abs", "Add"));
  EXPECT_TRUE(graph::validate(maker.graph).ok());
}

TEST_F(EditorTest, FusedNodeStandsWhereTheConsumerStood) {
  maker.output(c);
  Editor editor(maker.graph);
  editor.fuse(0, 1, {"fused", Unary{{UnaryKind::kSqrt, 0, 0}}, {x}, {}});
  EXPECT_EQ(editor.maker(b), 1u);
  EXPECT_EQ(editor.maker(a), std::nullopt);
  EXPECT_EQ(editor.node(1).outputs[0], b);
}

TEST_F(EditorTest, FinishDropsWhatIsNotRead) {
  const ValueId d = maker.unary(UnaryKind::kTanh, b);
  maker.unary(UnaryKind::kExp, d);
  maker.output(c);
  Editor editor(maker.graph);
  editor.finish();
  EXPECT_THAT(operators_of(maker.graph), ElementsAre("Relu", "Add"));
}

TEST_F(EditorTest, ReplacesEveryUse) {
  Editor editor(maker.graph);
  editor.replace_uses(a, x);
  EXPECT_FALSE(editor.has_single_reader(x));
  editor.erase(0);
  editor.erase(2);
  EXPECT_TRUE(editor.has_single_reader(x));
}

TEST_F(EditorTest, UsesAreReplacedAgainAndAgain) {
  maker.output(b);
  maker.output(c);
  Editor editor(maker.graph);
  const ValueId y = maker.graph.add_value({"y", tensor::DataType::kFloat32, {2}, {}});
  editor.replace_uses(a, x);
  editor.replace_uses(x, y);
  EXPECT_THAT(editor.node(1).inputs, ElementsAre(y));
  EXPECT_THAT(editor.node(2).inputs, ElementsAre(y, y));
  EXPECT_THAT(editor.node(0).inputs, ElementsAre(y)) << "it read x before";
}

std::vector<graph::Origin> origins(size_t count, const std::string& name) {
  std::vector<graph::Origin> result;
  for (size_t i = 0; i < count; ++i) result.push_back({name + std::to_string(i), "Relu"});
  return result;
}

TEST_F(EditorTest, ANodeTakesTheOriginsOfOneThatGoesUpToALimit) {
  maker.graph.nodes[0].origins = origins(200, "a");
  maker.graph.nodes[1].origins = origins(1, "b");
  Editor editor(maker.graph);
  editor.take_origins(1, 0);
  EXPECT_EQ(editor.node(1).origins.size(), 201u);
  EXPECT_TRUE(editor.node(0).origins.empty());
  maker.graph.nodes[2].origins = origins(200, "c");
  editor.take_origins(1, 2);
  EXPECT_EQ(editor.node(1).origins.size(), kMaxOrigins);
}

TEST_F(EditorTest, ANodeHasTheFirstOriginsOfOneThatStays) {
  maker.graph.nodes[0].origins = origins(200, "a");
  maker.graph.nodes[1].origins = origins(1, "b");
  Editor editor(maker.graph);
  editor.absorb_origins(1, 0);
  EXPECT_EQ(editor.node(0).origins.size(), 200u);
  EXPECT_THAT(editor.node(1).origins.front().name, "b0");
  EXPECT_THAT(editor.node(1).origins.back().name, "a15");
}

}  // namespace
}  // namespace millrace::lowering
