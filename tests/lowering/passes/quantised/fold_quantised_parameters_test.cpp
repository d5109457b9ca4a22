#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using ::testing::ElementsAre;

class FoldQuantisedParameters : public ::testing::Test {
 protected:
  // Adds a constant of INT8, followed by a Requantise to FLOAT32.
  ValueId dequantised(Dims shape, int32_t zero_point = 0) {
    return maker.dequantise(maker.quantised_constant(std::move(shape), {{0.25F}, {zero_point}}));
  }
  Graph run() { return run_pass(fold_quantised_parameters, maker.graph); }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(FoldQuantisedParameters, ABatchNormalizationHasConstantParameters) {
  const ValueId variance = dequantised({3}, -6);  // above 0
  maker.output(maker.add(graph::BatchNormalization{},
                         {x, dequantised({3}), dequantised({3}), dequantised({3}), variance}));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("BatchNormalization"));
  for (size_t i = 1; i < 5; ++i) EXPECT_TRUE(after.values[after.nodes[0].inputs[i]].constant) << i;
}

TEST_F(FoldQuantisedParameters, OfEachAxis) {
  const ValueId scale =
      maker.dequantise(maker.quantised_constant({3}, {{0.25F, 0.5F, 1}, {0, 1, 2}, 0}));
  const ValueId c = maker.random_positive({3});
  maker.output(maker.add(graph::BatchNormalization{}, {x, scale, c, c, c}));
  EXPECT_THAT(operators_of(run()), ElementsAre("BatchNormalization"));
}

TEST_F(FoldQuantisedParameters, APReluHasAConstantSlope) {
  maker.output(maker.binary(BinaryKind::kPrelu, x, dequantised({3, 1, 1})));
  EXPECT_THAT(operators_of(run()), ElementsAre("Prelu"));
}

TEST_F(FoldQuantisedParameters, WhatIsNoParameterStays) {
  maker.output(maker.binary(BinaryKind::kAdd, x, dequantised({3, 1, 1})));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Add"));
}

TEST_F(FoldQuantisedParameters, WhatIsNoConstantStays) {
  const ValueId scale =
      maker.dequantise(maker.requantise(maker.input({3}), {{0.25F}, {0}}, tensor::DataType::kInt8));
  const ValueId c = maker.random_positive({3});
  maker.output(maker.add(graph::BatchNormalization{}, {x, scale, c, c, c}));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "BatchNormalization"));
}

}  // namespace
}  // namespace millrace::lowering
