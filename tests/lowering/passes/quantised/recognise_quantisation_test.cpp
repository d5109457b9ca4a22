#include "tests/lowering/passes/pass_test.h"

namespace millrace::lowering {
namespace {

using graph::Quantisation;
using ::testing::ElementsAre;

class RecogniseQuantisation : public ::testing::Test {
 protected:
  Graph run() { return run_pass(recognise_quantisation, maker.graph); }

  GraphMaker maker;
  ValueId x = maker.input({1, 3, 4, 4});
};

TEST_F(RecogniseQuantisation, APairBecomesAQuantisedValue) {
  maker.output(maker.dequantize_linear(maker.quantize_linear(x, 0.5f, 7), 0.5f, 7));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("Requantise", "Requantise"));
  EXPECT_EQ(after.values[after.nodes[0].outputs[0]].quantisation, (Quantisation{{0.5f}, {7}}));
}

TEST_F(RecogniseQuantisation, NothingIsChangedWhereAllIsWantedAsWritten) {
  maker.output(maker.dequantize_linear(maker.quantize_linear(x, 0.5f, 7), 0.5f, 7));
  PassContext context;
  context.as_written = true;
  EXPECT_THAT(operators_of(run_pass(recognise_quantisation, maker.graph, context)),
              ElementsAre("QuantizeLinear", "DequantizeLinear"));
}

TEST_F(RecogniseQuantisation, WhatMovesIntegersMovesTheNumbers) {
  ValueId y = maker.quantize_linear(x, 0.5f, 7);
  y = maker.add(graph::Transpose{{0, 2, 3, 1}}, {y});
  y = maker.add(graph::Pad{graph::PadMode::kConstant, {0, 0, 0, 0}, {0, 0, 1, 0}, 9}, {y});
  maker.output(maker.dequantize_linear(y, 0.5f, 7));
  const Graph after = run();
  ASSERT_THAT(operators_of(after), ElementsAre("Requantise", "Transpose", "Pad", "Requantise"));
  EXPECT_EQ(std::get<graph::Pad>(after.nodes[2].op).value, 1.0f);  // (9 - 7) * 0.5
}

TEST_F(RecogniseQuantisation, IntegersWithTwoMeaningsAreReadAsIntegersForTheSecond) {
  const ValueId y = maker.quantize_linear(x, 0.5f, 7);
  maker.output(maker.dequantize_linear(y, 0.5f, 7));
  maker.output(maker.dequantize_linear(y, 0.25f, 3));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "DequantizeLinear"));
}

TEST_F(RecogniseQuantisation, ACastReadsTheIntegers) {
  const ValueId y = maker.quantize_linear(x, 0.5f, 7);
  maker.output(maker.dequantize_linear(y, 0.5f, 7));
  maker.output(maker.add(graph::Cast{tensor::DataType::kInt32}, {y}));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise", "Cast"));
}

TEST_F(RecogniseQuantisation, AnInputOfIntegers) {
  const ValueId bytes = maker.input({2, 3}, tensor::DataType::kUint8);
  maker.output(maker.dequantize_linear(bytes, 0.5f, 0));
  const Graph after = run();
  EXPECT_THAT(operators_of(after), ElementsAre("Requantise"));
  EXPECT_TRUE(after.values[after.inputs[1]].quantisation);
}

TEST_F(RecogniseQuantisation, AConstantHasTheMeaningThatEachReaderGivesIt) {
  const ValueId bytes = maker.graph.add_constant(
      "bytes", tensor::DataType::kUint8, {3}, graph::Constant::of(std::vector<uint8_t>{0, 7, 255}));
  maker.output(maker.dequantize_linear(bytes, 0.5f, 7));
  maker.output(maker.dequantize_linear(bytes, 0.25f, 3));
  EXPECT_THAT(operators_of(run()), ElementsAre("Requantise", "Requantise"));
}

// The rows of the result are other rows of the table, which may have another number of them.
TEST_F(RecogniseQuantisation, ParametersOfWhatIsGatheredFromATableAreNotThoseOfTheTable) {
  const ValueId table = maker.graph.add_constant("table", tensor::DataType::kUint8, {64, 3},
                                                 graph::Constant::of(std::vector<uint8_t>(192)));
  const ValueId rows = maker.input({64}, tensor::DataType::kInt64);
  const ValueId gathered = maker.add(graph::Gather{0}, {table, rows});
  maker.output(maker.dequantize_linear(gathered, 0.5f, 7));
  const ValueId scales = maker.constant({64}, std::vector<float>(64, 0.5f));
  auto& dequantize = maker.graph.nodes.back();
  dequantize.inputs = {gathered, scales};
  std::get<graph::Fallback>(dequantize.op).attributes = {{"axis", int64_t{0}}};
  EXPECT_THAT(operators_of(run()), ElementsAre("Gather", "DequantizeLinear"));
}

TEST_F(RecogniseQuantisation, ParametersThatAJobComputesStay) {
  const ValueId scale = maker.input({});
  const ValueId y = maker.quantize_linear(x, 0.5f, 7);
  maker.graph.nodes.back().inputs[1] = scale;
  maker.output(maker.add(graph::Cast{tensor::DataType::kInt32}, {y}));
  EXPECT_THAT(operators_of(run()), ElementsAre("QuantizeLinear", "Cast"));
}

}  // namespace
}  // namespace millrace::lowering
