#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

TEST(LowerBatchNormalization, BecomesScaleAndShift) {
  GraphMaker maker;
  const ValueId x = maker.input({2, 3, 4, 4});
  const ValueId scale = maker.random({3}), bias = maker.random({3}), mean = maker.random({3});
  maker.output(maker.add(graph::BatchNormalization{1e-3f},
                         {x, scale, bias, mean, maker.random_positive({3})}));
  const Graph after = run_pass(lower_batch_normalization, maker.graph);
  EXPECT_THAT(operators_of(after), ElementsAre("Mul", "Add"));
  EXPECT_EQ(after.values[after.nodes[0].inputs[1]].shape, (Dims{1, 3, 1, 1}));
}

TEST(LowerBatchNormalization, OfRankTwo) {
  GraphMaker maker;
  const ValueId x = maker.input({5, 3}), c = maker.random_positive({3});
  maker.output(maker.add(graph::BatchNormalization{}, {x, c, c, c, c}));
  EXPECT_THAT(operators_of(run_pass(lower_batch_normalization, maker.graph)),
              ElementsAre("Mul", "Add"));
}

}  // namespace
}  // namespace millrace::lowering
