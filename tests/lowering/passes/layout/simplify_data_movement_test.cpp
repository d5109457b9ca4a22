#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

TEST(SimplifyDataMovement, RemovesWhatMovesNothing) {
  GraphMaker maker;
  ValueId x = maker.input({1, 2, 4, 4});
  x = maker.unary(UnaryKind::kAbs, x);
  x = maker.unary(UnaryKind::kIdentity, x);
  x = maker.add(graph::Reshape{{1, 2, 4, 4}}, {x});
  x = maker.add(graph::Transpose{{0, 1, 2, 3}}, {x});
  x = maker.add(graph::Cast{tensor::DataType::kFloat32}, {x});
  x = maker.add(graph::Slice{{0, 0, 0, 0}, {1, 2, 4, 4}, {1, 1, 1, 1}}, {x});
  x = maker.add(graph::Pad{graph::PadMode::kEdge, Dims(4, 0), Dims(4, 0), 0}, {x});
  x = maker.add(graph::Expand{{1, 2, 4, 4}}, {x});
  x = maker.add(graph::Concat{1}, {x});
  maker.output(maker.unary(UnaryKind::kTanh, x));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)),
              ElementsAre("Abs", "Tanh"));
}

TEST(SimplifyDataMovement, KeepsAReversal) {
  GraphMaker maker;
  const ValueId reversed = maker.add(graph::Slice{{3}, {4}, {-1}}, {maker.input({4})});
  maker.output(maker.unary(UnaryKind::kTanh, reversed));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)),
              ElementsAre("Slice", "Tanh"));
}

TEST(SimplifyDataMovement, TheProducerTakesOverAGraphOutput) {
  GraphMaker maker;
  const ValueId x = maker.unary(UnaryKind::kAbs, maker.input({2, 3}));
  maker.output(maker.unary(UnaryKind::kIdentity, x));
  maker.output(maker.unary(UnaryKind::kTanh, x));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)),
              ElementsAre("Abs", "Tanh"));
}

TEST(SimplifyDataMovement, AnInputHandedThroughKeepsItsIdentity) {
  GraphMaker maker;
  maker.output(maker.add(graph::Reshape{{2, 3}}, {maker.input({2, 3})}));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)), ElementsAre("Identity"));
}

TEST(SimplifyDataMovement, TwoOutputsOfOneValueStayTwo) {
  GraphMaker maker;
  const ValueId x = maker.unary(UnaryKind::kAbs, maker.input({2, 3}));
  maker.output(x);
  maker.output(maker.unary(UnaryKind::kIdentity, x));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)),
              ElementsAre("Abs", "Identity"));
}

TEST(SimplifyDataMovement, MergesReshapes) {
  GraphMaker maker;
  const ValueId flat = maker.add(graph::Reshape{{24}}, {maker.input({2, 3, 4})});
  maker.output(maker.add(graph::Reshape{{4, 6}}, {flat}));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)), ElementsAre("Reshape"));
}

TEST(SimplifyDataMovement, MergesTransposes) {
  GraphMaker maker;
  ValueId x = maker.add(graph::Transpose{{0, 2, 3, 1}}, {maker.input({2, 3, 4, 5})});
  x = maker.add(graph::Transpose{{1, 0, 2, 3}}, {x});
  maker.output(maker.unary(UnaryKind::kAbs, x));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)),
              ElementsAre("Transpose", "Abs"));
}

TEST(SimplifyDataMovement, ATransposeAndItsInverseVanish) {
  GraphMaker maker;
  ValueId x = maker.add(graph::Transpose{{0, 2, 3, 1}}, {maker.input({2, 3, 4, 5})});
  x = maker.add(graph::Transpose{{0, 3, 1, 2}}, {x});
  maker.output(maker.unary(UnaryKind::kAbs, x));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)), ElementsAre("Abs"));
}

TEST(SimplifyDataMovement, ATransposeOfOnesIsAReshape) {
  GraphMaker maker;
  maker.output(maker.add(graph::Transpose{{0, 2, 3, 1}}, {maker.input({2, 1, 4, 5})}));
  EXPECT_THAT(operators_of(run_pass(simplify_data_movement, maker.graph)), ElementsAre("Reshape"));
}

}  // namespace
}  // namespace millrace::lowering
