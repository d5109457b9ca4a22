#include <gmock/gmock.h>

#include <limits>

#include "graph/graph.h"

namespace millrace::graph {
namespace {

using tensor::DataType;
using ::testing::HasSubstr;

// x -> Relu -> hidden; hidden + offset -> y.
class ValidateTest : public ::testing::Test {
 protected:
  ValidateTest() {
    x = graph.add_value({"x", DataType::kFloat32, {2, 3}, {}});
    hidden = graph.add_value({"hidden", DataType::kFloat32, {2, 3}, {}});
    y = graph.add_value({"y", DataType::kFloat32, {2, 3}, {}});
    offset = graph.add_constant("offset", DataType::kFloat32, {3},
                                Constant::of(std::vector<float>{1, 2, 3}));
    graph.inputs = {x};
    graph.outputs = {y};
    graph.nodes = {{"relu", Unary{{UnaryKind::kRelu, 0, 0}}, {x}, {hidden}},
                   {"add", Binary{BinaryKind::kAdd}, {hidden, offset}, {y}}};
  }

  void expect_refused(const char* reason) {
    const Status status = validate(graph);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(reason));
  }

  Graph graph;
  ValueId x, hidden, y, offset;
};

TEST_F(ValidateTest, AcceptsAGraph) {
  EXPECT_TRUE(validate(graph).ok());
}

TEST_F(ValidateTest, OperatorsComputeWithTheNumbersOfQuantisedValues) {
  graph.values[hidden].type = DataType::kUint8;
  graph.values[hidden].quantisation = {{0.5f}, {128}};
  graph.values[y].type = DataType::kInt8;
  graph.values[y].quantisation = {{0.5f, 1, 2}, {0, 0, -128}, 1};
  EXPECT_EQ(validate(graph).message(), "");
  graph.values[hidden].quantisation.reset();
  expect_refused("'hidden' is UINT8 [2,3], but the operator gives FLOAT32 [2,3]");
}

TEST_F(ValidateTest, OnlyFallbackAndCastReadTheIntegers) {
  graph.values[hidden].type = DataType::kInt8;
  graph.values[hidden].quantisation = {{0.5f}, {0}};
  graph.nodes[0].op = Cast{DataType::kInt8};
  EXPECT_EQ(validate(graph).message(), "");
  graph.nodes[0].op = Requantise{};
  EXPECT_EQ(validate(graph).message(), "");
}

TEST_F(ValidateTest, RefusesAQuantisationThatDoesNotFitItsValue) {
  graph.values[hidden].type = DataType::kInt8;
  const auto refuse = [&](Quantisation quantisation, const char* reason) {
    graph.values[hidden].quantisation = std::move(quantisation);
    expect_refused(reason);
  };
  refuse({}, "value 'hidden': 0 scales, 0 zero points");
  refuse({{1}, {}}, "1 scales, 0 zero points");
  refuse({{1, 1}, {0, 0}, 1}, "2 scales do not fit dimension 1");
  refuse({{1, 1}, {0, 0}, 2}, "2 scales do not fit dimension 2");
  refuse({{0}, {0}}, "a scale of 0");
  refuse({{std::numeric_limits<float>::infinity()}, {0}}, "a scale of inf");
  refuse({{std::numeric_limits<float>::quiet_NaN()}, {0}}, "a scale of nan");
  refuse({{1}, {128}}, "INT8 cannot hold the zero point 128");
  graph.values[hidden].type = DataType::kInt16;
  refuse({{1}, {0}}, "INT16 cannot be quantised");
}

TEST_F(ValidateTest, RefusesAnIdOutOfRange) {
  graph.nodes[1].inputs[1] = 77;
  expect_refused("node 'add' (Binary): value id 77 of 4");
}

TEST_F(ValidateTest, RefusesAnAbsentRequiredOperand) {
  graph.nodes[1].inputs[1] = kNoValue;
  expect_refused("input 1 is absent");
}

TEST_F(ValidateTest, RefusesUseBeforeMaking) {
  std::swap(graph.nodes[0], graph.nodes[1]);
  expect_refused("node 'add' (Binary): reads 'hidden' before it is made");
}

TEST_F(ValidateTest, RefusesANodeThatReadsItsOwnOutput) {
  graph.nodes[1].inputs[0] = y;
  expect_refused("reads 'y' before it is made");
}

TEST_F(ValidateTest, OnlyAFallbackHasSeveralOutputs) {
  const ValueId second = graph.add_value({"second", DataType::kInt64, {7}, {}});
  graph.nodes[0].outputs.push_back(second);
  expect_refused("node 'relu' (Unary): has 2 outputs, not one");
  graph.nodes[0].op = Fallback{"Anything", {}};
  EXPECT_TRUE(validate(graph).ok());
  graph.nodes[0].outputs.push_back(second);
  expect_refused("node 'relu' (Anything): 'second' is a constant, a graph input, or made twice");
  graph.nodes[0].outputs.clear();
  expect_refused("has 0 outputs");
}

TEST_F(ValidateTest, RefusesAValueMadeTwice) {
  graph.nodes[1].outputs[0] = hidden;
  expect_refused("'hidden' is a constant, a graph input, or made twice");
}

TEST_F(ValidateTest, RefusesANodeThatMakesAnInput) {
  graph.nodes[0].outputs[0] = x;
  expect_refused("'x' is a constant, a graph input, or made twice");
}

TEST_F(ValidateTest, RefusesAConstantAsInput) {
  graph.inputs.push_back(offset);
  expect_refused("graph inputs");
}

TEST_F(ValidateTest, RefusesAnInputListedTwice) {
  graph.inputs.push_back(x);
  expect_refused("graph inputs");
}

TEST_F(ValidateTest, RefusesAnOutputThatNoNodeMakes) {
  graph.outputs = {x};
  expect_refused("graph output 'x' is made by no node");
}

TEST_F(ValidateTest, RefusesAnOutputListedTwice) {
  graph.outputs = {y, y};
  expect_refused("listed twice");
}

TEST_F(ValidateTest, RefusesANodeWithoutOutput) {
  graph.nodes[0].outputs.clear();
  expect_refused("has 0 outputs");
}

TEST_F(ValidateTest, RefusesAConstantOfAnotherLength) {
  graph.values[offset].constant = Constant::of(std::vector<float>{1, 2});
  expect_refused("value 'offset': a constant of 8 bytes, but type and shape take 12");
}

TEST_F(ValidateTest, AcceptsTensorsWithoutElements) {
  for (const ValueId id : {x, hidden, y}) graph.values[id].shape = {0, 3};
  EXPECT_TRUE(validate(graph).ok());
}

TEST_F(ValidateTest, RefusesANegativeDimension) {
  graph.values[x].shape = {2, -1};
  expect_refused("value 'x': shape [2,-1] has a dimension below 0");
}

// Strides of an empty tensor are products of its other dimensions.
TEST_F(ValidateTest, RefusesAnEmptyShapeWhoseStridesOverflow) {
  graph.values[x].shape = {int64_t{1} << 62, int64_t{1} << 62, 0};
  expect_refused("more than 2^40 elements");
}

TEST_F(ValidateTest, RefusesAShapeWhoseSizeOverflows) {
  graph.values[x].shape = {int64_t{1} << 62, int64_t{1} << 62};
  expect_refused("more than 2^40 elements");
}

TEST_F(ValidateTest, RefusesAnUnknownType) {
  graph.values[x].type = static_cast<DataType>(99);
  expect_refused("value 'x': no known type");
}

TEST_F(ValidateTest, RefusesAnOutputOfAnotherShape) {
  graph.values[y].shape = {3, 2};
  expect_refused("output 'y' is FLOAT32 [3,2], but the operator gives FLOAT32 [2,3]");
}

TEST_F(ValidateTest, RefusesAnOutputOfAnotherType) {
  graph.values[hidden].type = DataType::kBf16;
  expect_refused("output 'hidden' is BF16 [2,3]");
}

}  // namespace
}  // namespace millrace::graph
