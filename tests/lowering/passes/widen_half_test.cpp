#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

constexpr auto kFp16 = tensor::DataType::kFp16;
constexpr auto kFloat32 = tensor::DataType::kFloat32;

class WidenHalf : public ::testing::Test {
 protected:
  WidenHalf() {
    const ValueId x = maker.input({1, 1, 2, 2}, kFp16);
    // 1.0, 2.0, -0.5, 0.25 in FP16.
    const ValueId weight = maker.graph.add_constant(
        "w", kFp16, {4, 1, 1, 1},
        graph::Constant::of(std::vector<uint16_t>{0x3c00, 0x4000, 0xb800, 0x3400}));
    const Conv conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}};
    const ValueId convolved = maker.add(conv, {x, weight});
    maker.output(maker.unary(UnaryKind::kRelu, convolved));
  }
  GraphMaker maker;
};

TEST_F(WidenHalf, CastsAtTheBoundaryOnly) {
  const Graph after = run_pass(widen_half, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Cast", "Conv", "Relu", "Cast"));
  for (ValueId id = 0; id < after.values.size(); ++id) {
    const bool boundary = id == after.inputs[0] || id == after.outputs[0];
    EXPECT_EQ(after.values[id].type, boundary ? kFp16 : kFloat32);
  }
}

TEST_F(WidenHalf, KeepsTheNumbersOfConstants) {
  const Graph after = run_pass(widen_half, maker.graph);
  const graph::Value& weight = after.values[after.nodes[1].inputs[1]];
  EXPECT_THAT(weight.constant->as<float>(), ElementsAre(1.0f, 2.0f, -0.5f, 0.25f));
}

// The graphs that are made of a model for different shapes would otherwise each have all weights.
TEST_F(WidenHalf, GraphsOfOneModelShareItsWidenedConstants) {
  DerivedConstants derived;
  PassContext context;
  context.derived = &derived;
  const auto elements = [&] {
    const Graph after = run_pass(widen_half, maker.graph, context);
    return *after.values[after.nodes[1].inputs[1]].constant;
  };
  const graph::Constant first = elements();
  EXPECT_EQ(elements().bytes.data(), first.bytes.data());
  EXPECT_THAT(first.as<float>(), ElementsAre(1.0f, 2.0f, -0.5f, 0.25f));
}

TEST_F(WidenHalf, AnOutputThatIsReadInsideIsReadWide) {
  maker.output(maker.unary(UnaryKind::kAbs, maker.graph.outputs[0]));
  const Graph after = run_pass(widen_half, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Cast", "Conv", "Relu", "Abs", "Cast", "Cast"));
  EXPECT_EQ(after.values[after.nodes[3].inputs[0]].type, kFloat32);
}

TEST(WidenHalfOfFloat32, ChangesNothing) {
  GraphMaker maker;
  maker.output(maker.unary(UnaryKind::kRelu, maker.input({2})));
  EXPECT_THAT(operators_of(run_pass(widen_half, maker.graph)), ElementsAre("Relu"));
}

}  // namespace
}  // namespace millrace::lowering
