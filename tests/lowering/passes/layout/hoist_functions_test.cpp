#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

class HoistFunctions : public ::testing::Test {
 protected:
  ValueId moved(ValueId id) {
    id = maker.add(graph::Transpose{{0, 2, 3, 1}}, {id});
    return maker.add(graph::Reshape{{1, 16, 4}}, {id});
  }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(HoistFunctions, OverMovesToTheConv) {
  maker.output(maker.unary(UnaryKind::kSigmoid, moved(maker.conv(x, 4))));
  EXPECT_THAT(operators_of(run_pass(hoist_functions, maker.graph)),
              ElementsAre("Conv", "Sigmoid", "Transpose", "Reshape"));
}

TEST_F(HoistFunctions, ThenItIsTheActivation) {
  const ValueId y = maker.unary(UnaryKind::kSigmoid, moved(maker.conv(x, 4)));
  maker.output(maker.unary(UnaryKind::kAbs, y));
  const Graph hoisted = run_pass(hoist_functions, maker.graph);
  EXPECT_THAT(operators_of(run_pass(fuse_activation, hoisted)),
              ElementsAre("Conv", "Transpose", "Reshape", "Abs"));
}

TEST_F(HoistFunctions, NotWhereTheMoveHasAnotherReader) {
  const ValueId y = moved(maker.conv(x, 4));
  maker.output(maker.unary(UnaryKind::kSigmoid, y));
  maker.output(maker.unary(UnaryKind::kAbs, y));
  EXPECT_THAT(operators_of(run_pass(hoist_functions, maker.graph)),
              ElementsAre("Conv", "Transpose", "Reshape", "Sigmoid", "Abs"));
}

TEST_F(HoistFunctions, NotWhereNoActivationCanBe) {
  const ValueId wide = maker.add(graph::Concat{1}, {x, maker.input({1, 1, 4, 4})});
  maker.output(maker.unary(UnaryKind::kSigmoid, moved(wide)));
  EXPECT_THAT(operators_of(run_pass(hoist_functions, maker.graph)),
              ElementsAre("Concat", "Transpose", "Reshape", "Sigmoid"));
}

}  // namespace
}  // namespace millrace::lowering
