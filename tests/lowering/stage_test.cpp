// Tests how far a lowering goes with what is known, and what it then depends on.
#include "lowering/stage.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/lowering/network_builder.h"

namespace millrace::lowering::test {
namespace {

using graph::UnaryKind;
using Operators = std::vector<graph::Operator>;
using Indices = std::vector<size_t>;
using ::testing::HasSubstr;

const graph::Operator kRelu = graph::Unary{{UnaryKind::kRelu}};
const graph::Operator kNeg = graph::Unary{{UnaryKind::kNeg}};

const Known kImage = given("x", DataType::kFloat32, {2, 6});

// y = Relu(Reshape(Neg(x), shape))
NetworkBuilder reshaped() {
  NetworkBuilder builder;
  builder.node("Neg", {"x"}, {"n"}).node("Reshape", {"n", "shape"}, {"r"});
  builder.node("Relu", {"r"}, {"y"}).output("y");
  return builder;
}

TEST(Stage, WhatWaitsForElementsIsLeftToTheRest) {
  const Stage stage = lower_valid(reshaped(), {kImage, given("shape", DataType::kInt64, {2})});
  EXPECT_EQ(operators_of(stage), Operators{kNeg});
  EXPECT_EQ(stage.inputs, Names{"x"});
  EXPECT_EQ(stage.outputs, Names{"n"});
  EXPECT_EQ(stage.rest, (Indices{1, 2}));
  EXPECT_EQ(stage.read, Names{});
}

TEST(Stage, ElementsThatAreKnownAreReadWhereNothingElseHelps) {
  const Stage stage = lower_valid(reshaped(), {kImage, told(ints("shape", {3, -1}))});
  EXPECT_EQ(operators_of(stage), (Operators{kNeg, graph::Reshape{{3, 4}}, kRelu}));
  EXPECT_EQ(stage.inputs, Names{"x"});
  EXPECT_EQ(stage.outputs, Names{"y"});
  EXPECT_EQ(stage.rest, Indices{});
  EXPECT_EQ(stage.read, Names{"shape"});
}

TEST(Stage, ConstantsOfThePlanAreNotRead) {
  Known shape = told(ints("shape", {4, 3}));
  shape.constant = true;
  const Stage stage = lower_valid(reshaped(), {kImage, shape});
  EXPECT_EQ(output_shape(stage), (Dims{4, 3}));
  EXPECT_EQ(stage.read, Names{});
}

TEST(Stage, TheRestIsLoweredOnceElementsAreThere) {
  const NetworkBuilder builder = reshaped();
  const Known known[] = {given("n", DataType::kFloat32, {2, 6}), told(ints("shape", {12}))};
  const size_t rest[] = {1, 2};
  const auto stage = lower_stage({builder.network, device::cpu::capabilities(), rest, known});
  ASSERT_TRUE(stage.ok()) << stage.status().to_string();
  EXPECT_EQ(stage->inputs, Names{"n"});
  EXPECT_EQ(output_shape(*stage), Dims{12});
}

TEST(Stage, ElementsThatAnOperatorCanDoWithoutStayUnread) {
  NetworkBuilder builder;
  builder.node("Add", {"x", "b"}, {"y"}).output("y");
  const graph::Value one = constant("b", DataType::kFloat32, {1}, std::vector<float>{1});
  const Stage stage = lower_valid(builder, {kImage, told(one)});
  EXPECT_EQ(stage.inputs, (Names{"x", "b"}));
  EXPECT_EQ(stage.read, Names{});
}

// The shape is that of x with the batch that `n` says, halved.
NetworkBuilder computed_shape() {
  NetworkBuilder builder;
  builder.initializer(ints("two", {2})).initializer(ints("minus", {-1}));
  builder.node("Div", {"n", "two"}, {"half"})
      .node("Concat", {"half", "minus"}, {"shape"}, {{"axis", int64_t{0}}});
  builder.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  return builder;
}

TEST(Stage, ChainsAreComputedOnDemand) {
  const Stage stage =
      lower_valid(computed_shape(), {kImage, told(ints("n", {8})), told(ints("other", {1}))});
  EXPECT_EQ(output_shape(stage), (Dims{4, 3}));
  EXPECT_EQ(stage.inputs, Names{"x"}) << "what computes the shape is not run again";
  EXPECT_EQ(stage.read, Names{"n"});
}

TEST(Stage, ChainsOfUnknownElementsRunFirst) {
  const Stage stage = lower_valid(computed_shape(), {kImage, given("n", DataType::kInt64, {1})});
  EXPECT_EQ(stage.outputs, Names{"shape"});
  EXPECT_EQ(stage.inputs, Names{"n"});
  EXPECT_EQ(stage.rest, Indices{2});
}

TEST(Stage, LongListsAreNoStuffOfShapes) {
  NetworkBuilder builder;
  builder.initializer(ints("first", {0})).node("Gather", {"n", "first"}, {"s"});
  builder.node("Reshape", {"x", "s"}, {"y"}).output("y");
  const Stage stage = lower_valid(builder, {kImage, told(ints("n", Dims(5000, 0)))});
  EXPECT_EQ(stage.rest, Indices{1});
  EXPECT_EQ(stage.read, Names{});
}

TEST(Stage, WhatANodeAskedForInVainIsNotRead) {
  NetworkBuilder builder;
  builder.node("Slice", {"x", "starts", "ends"}, {"y"}).output("y");
  const Stage stage = lower_valid(
      builder, {kImage, told(ints("starts", {0})), given("ends", DataType::kInt64, {1})});
  EXPECT_EQ(stage.rest, Indices{0});
  EXPECT_EQ(stage.read, Names{});
}

TEST(Stage, ShapesAreConstantsOfThePlan) {
  NetworkBuilder builder;
  builder.node("Shape", {"x"}, {"s"}).node("Reshape", {"z", "s"}, {"y"});
  builder.node("Reshape", {"z", "later"}, {"w"}).output("y").output("w").output("s");
  const Stage stage = lower_valid(builder, {kImage, given("z", DataType::kFloat32, {12}),
                                            given("later", DataType::kInt64, {1})});
  EXPECT_EQ(output_shape(stage), (Dims{2, 6}));
  ASSERT_EQ(stage.constants.size(), 1u);
  EXPECT_EQ(stage.constants[0].name, "s");
  EXPECT_EQ(stage.constants[0].shape, Dims{2});
  EXPECT_EQ(stage.rest, Indices{2});
}

TEST(Stage, HalfPrecisionIsComputedInFloat32AndHandedOnSo) {
  NetworkBuilder builder;
  builder.node("Neg", {"x"}, {"n"}).node("Relu", {"n"}, {"y"}).output("y", DataType::kFp16);
  builder.node("Reshape", {"n", "shape"}, {"z"}).output("z", DataType::kFp16);
  const Stage stage = lower_valid(
      builder, {given("x", DataType::kFp16, {2, 6}), given("shape", DataType::kInt64, {1})});
  ASSERT_EQ(stage.outputs, (Names{"y", "n"}));
  EXPECT_EQ(stage.graph.values[stage.graph.outputs[0]].type, DataType::kFp16);
  EXPECT_EQ(stage.graph.values[stage.graph.outputs[1]].type, DataType::kFloat32);
}

TEST(Stage, AnOutputThatIsOnlyAnotherNameIsMadeByANode) {
  NetworkBuilder builder;
  builder.node("Identity", {"x"}, {"y"}).output("x").output("y");
  const Stage stage = lower_valid(builder, {kImage});
  EXPECT_EQ(stage.outputs, Names{"y"}) << "the caller has x";
  EXPECT_EQ(operators_of(stage), Operators{graph::Operator(graph::Unary{})});
}

TEST(Stage, WithoutARestWaitingIsAnError) {
  const Status status =
      lower(reshaped(), {kImage, given("shape", DataType::kInt64, {2})}, false).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("'shape' is not a constant"));
}

TEST(Stage, NodesThatWaitMustBeCoveredToo) {
  NetworkBuilder builder = reshaped();
  builder.node("StringNormalizer", {"y"}, {"z"}).output("z");
  const Status status = lower(builder, {kImage, given("shape", DataType::kInt64, {2})}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("'z_node'"));
}

// y = If(c) ? Relu(x) : Neg(x), both inside the branches
NetworkBuilder with_if(const std::string& condition = "c") {
  NetworkBuilder yes, no, builder;
  yes.node("Relu", {"x"}, {"inner"}).output("inner").captures({"x"});
  no.node("Neg", {"x"}, {"inner"}).output("inner").captures({"x"});
  builder.node("If", {condition}, {"y"}, {yes.as("then_branch"), no.as("else_branch")});
  builder.output("y");
  return builder;
}

TEST(If, WithAConstantConditionIsItsBranch) {
  for (const bool condition : {true, false}) {
    NetworkBuilder builder = with_if();
    builder.initializer(boolean("c", condition));
    const Stage stage = lower_valid(builder, {kImage});
    EXPECT_EQ(operators_of(stage), Operators{condition ? kRelu : kNeg});
    EXPECT_EQ(stage.outputs, Names{"y"});
    EXPECT_EQ(stage.read, Names{});
  }
}

TEST(If, WithAKnownConditionFollowsFromIt) {
  const Stage stage = lower_valid(with_if(), {kImage, told(boolean("c", false))});
  EXPECT_EQ(operators_of(stage), Operators{kNeg});
  EXPECT_EQ(stage.read, Names{"c"});
}

TEST(If, WithAnUnknownConditionWaits) {
  const Stage stage = lower_valid(with_if(), {kImage, given("c", DataType::kBoolean, {})});
  EXPECT_EQ(stage.rest, Indices{0});
}

TEST(If, BranchesMayPutOutWhatLiesAroundThem) {
  NetworkBuilder yes, no, builder;
  yes.output("x").captures({"x"});
  no.output("k").initializer(ints("k", {7}));
  builder.node("If", {"c"}, {"y"}, {yes.as("then_branch"), no.as("else_branch")}).output("y");
  const Stage first = lower_valid(builder, {kImage, told(boolean("c", true))});
  EXPECT_EQ(first.inputs, Names{"x"});
  EXPECT_EQ(first.outputs, Names{"y"});
  const Stage second = lower_valid(builder, {kImage, told(boolean("c", false))});
  ASSERT_EQ(second.constants.size(), 1u);
  EXPECT_EQ(second.constants[0].name, "y");
}

TEST(If, NestedOnesSeeWhatLiesOutside) {
  NetworkBuilder outer, no, builder;
  // Both networks call a value "inner".
  outer.node("Neg", {"x"}, {"inner"});
  NetworkBuilder deep;
  deep.node("Add", {"inner", "x"}, {"sum"}).output("sum").captures({"inner", "x"});
  outer.node("If", {"d"}, {"o"}, {deep.as("then_branch"), deep.as("else_branch")});
  outer.output("o").captures({"d", "x"});
  no.output("x").captures({"x"});
  builder.node("Relu", {"x"}, {"other"});
  builder.node("If", {"c"}, {"y"}, {outer.as("then_branch"), no.as("else_branch")});
  builder.output("y").output("other");
  const Stage stage =
      lower_valid(builder, {kImage, told(boolean("c", true)), told(boolean("d", false))});
  EXPECT_EQ(operators_of(stage), (Operators{kRelu, kNeg, graph::Binary{graph::BinaryKind::kAdd}}));
  EXPECT_EQ(stage.read, (Names{"c", "d"}));
}

TEST(If, WhoseBranchWaitsIsNotReadFrom) {
  NetworkBuilder yes, builder;
  yes.node("Reshape", {"x", "shape"}, {"r"}).output("r").captures({"shape", "x"});
  builder.node("If", {"c"}, {"y"}, {yes.as("then_branch"), yes.as("else_branch")}).output("y");
  const Stage stage = lower_valid(
      builder, {kImage, told(boolean("c", true)), given("shape", DataType::kInt64, {1})});
  EXPECT_EQ(stage.rest, Indices{0});
  EXPECT_EQ(stage.read, Names{});
}

TEST(If, BranchesThatDoNotFitAreInvalid) {
  NetworkBuilder builder, branch;
  builder.node("If", {"c"}, {"y"}, {branch.as("then_branch"), branch.as("else_branch")});
  builder.output("y").initializer(boolean("c", true));
  EXPECT_EQ(lower(builder, {}).status().code(), StatusCode::kInvalidArgument);
}

// Loop with a body that adds x to the value that it carries, so many times.
NetworkBuilder with_loop(int64_t trips = 3) {
  NetworkBuilder body, builder;
  body.network.inputs = {{"i"}, {"go"}, {"carried"}};
  body.node("Identity", {"go"}, {"go_on"}).node("Add", {"carried", "x"}, {"sum"});
  body.output("go_on").output("sum").captures({"x"});
  builder.initializer(ints("trips", {trips}));
  builder.node("Relu", {"x"}, {"start"})
      .node("Loop", {"trips", "", "start"}, {"end"}, {body.as("body")});
  builder.node("Neg", {"end"}, {"y"}).output("y");
  return builder;
}

TEST(Loop, OfFewIterationsBecomesTheirNodes) {
  const Stage stage = lower_valid(with_loop(), {kImage});
  EXPECT_EQ(stage.outputs, Names{"y"});
  EXPECT_TRUE(stage.rest.empty());
  const auto sums = std::ranges::count_if(stage.graph.nodes, [](const graph::Node& node) {
    return std::holds_alternative<graph::Binary>(node.op);
  });
  EXPECT_EQ(sums, 3);
}

// Three loops, each inside the next, of a thousand iterations each.
TEST(Loop, WhoseIterationsMultiplyIsLeftToTheRest) {
  NetworkBuilder body;
  body.network.inputs = {{"i"}, {"go"}, {"carried"}};
  body.node("Neg", {"carried"}, {"next"}).output("go").output("next");
  for (int depth = 0; depth < 2; ++depth) {
    NetworkBuilder around;
    around.network.inputs = {{"i"}, {"go"}, {"carried"}};
    around.initializer(ints("trips", {1000}));
    around.node("Loop", {"trips", "", "carried"}, {"next"}, {body.as("body")});
    around.output("go").output("next");
    body = around;
  }
  NetworkBuilder builder;
  builder.initializer(ints("trips", {1000}));
  builder.node("Loop", {"trips", "", "x"}, {"y"}, {body.as("body")}).output("y");
  EXPECT_EQ(lower_valid(builder, {kImage}).rest, Indices{0});
}

// The values after each of three iterations, and the condition, which ends it before the fifth.
TEST(Loop, EndsWhereItsConditionIsKnownToFail) {
  NetworkBuilder body, builder;
  body.network.inputs = {{"i"}, {"go"}, {"carried"}};
  body.node("Less", {"i", "last"}, {"go_on"}).node("Add", {"carried", "x"}, {"sum"});
  body.initializer(constant("last", DataType::kInt64, {}, std::vector<int64_t>{2}));
  body.output("go_on").output("sum").output("sum").captures({"x"});
  builder.initializer(ints("trips", {5}));
  builder.node("Loop", {"trips", "", "x"}, {"end", "all"}, {body.as("body")}).output("all");
  const Stage stage = lower_valid(builder, {kImage});
  Dims shape = kImage.shape;
  shape.insert(shape.begin(), 3);
  EXPECT_EQ(output_shape(stage), shape);
}

TEST(Loop, IsLeftToTheRestWithWhatReadsIt) {
  const Stage stage = lower_valid(with_loop(100'000), {kImage});
  EXPECT_EQ(stage.outputs, Names{"start"});
  EXPECT_EQ(stage.rest, (Indices{1, 2}));
}

// A loop of so many iterations, which have an iteration's number, a condition and `carried`.
NetworkBuilder loop_of(int64_t trips, NetworkBuilder body) {
  body.network.inputs = {{"i"}, {"go"}, {"carried"}};
  NetworkBuilder around;
  around.initializer(ints("trips", {trips}));
  around.node("Loop", {"trips", "", "x"}, {"y"}, {body.as("body")}).output("y");
  return around;
}

TEST(Loop, InsideAnotherCountsInEachOfItsIterations) {
  const auto nested = [](int64_t trips) {
    NetworkBuilder inner, body;
    inner.network.inputs = {{"j"}, {"on"}, {"v"}};
    inner.node("Identity", {"on"}, {"still"}).node("Add", {"v", "x"}, {"w"});
    inner.output("still").output("w").captures({"x"});
    body.initializer(ints("inner_trips", {trips})).node("Identity", {"go"}, {"go_on"});
    body.node("Loop", {"inner_trips", "", "carried"}, {"sum"}, {inner.as("body")});
    body.output("go_on").output("sum").captures({"x"});
    return loop_of(trips, body);
  };
  EXPECT_TRUE(lower_valid(nested(3), {kImage}).rest.empty());
  const Stage stage = lower_valid(nested(100), {kImage});
  EXPECT_EQ(stage.rest, Indices{0});
  EXPECT_TRUE(stage.graph.nodes.empty());
}

TEST(Loop, WithMuchInABranchIsLeftToTheRest) {
  const auto with_branch = [](int64_t nodes) {
    NetworkBuilder branch, body;
    for (int64_t i = 0; i < nodes; ++i)
      branch.node("Neg", {i == 0 ? "carried" : fmt::format("n{}", i - 1)}, {fmt::format("n{}", i)});
    branch.output(fmt::format("n{}", nodes - 1)).captures({"carried"});
    body.initializer(boolean("yes", true)).node("Identity", {"go"}, {"go_on"});
    body.node("If", {"yes"}, {"next"}, {branch.as("then_branch"), branch.as("else_branch")});
    return loop_of(30, body.output("go_on").output("next"));
  };
  EXPECT_TRUE(lower_valid(with_branch(5), {kImage}).rest.empty());
  EXPECT_EQ(lower_valid(with_branch(50), {kImage}).rest, Indices{0});
}

TEST(Loop, OfManyPartsIsLeftToTheRest) {
  const auto with_parts = [](size_t outputs) {
    NetworkBuilder body;
    body.node("Identity", {"go"}, {"go_on"}).output("go_on").output("carried");
    for (size_t i = 0; i < outputs; ++i) body.output("carried");
    return loop_of(30, body);
  };
  EXPECT_TRUE(lower_valid(with_parts(2), {kImage}).rest.empty());
  EXPECT_EQ(lower_valid(with_parts(50), {kImage}).rest, Indices{0});
}

// Its iterations compute the same megabytes, which it needs once where it runs by itself.
TEST(Loop, OfLargeConstantsIsLeftToTheRest) {
  const auto with_constant = [](int64_t elements) {
    NetworkBuilder body;
    body.initializer(ints("size", {elements})).node("ConstantOfShape", {"size"}, {"zeros"});
    body.node("Identity", {"go"}, {"go_on"}).output("go_on").output("carried");
    return loop_of(100, body);
  };
  EXPECT_TRUE(lower_valid(with_constant(8), {kImage}).rest.empty());
  EXPECT_EQ(lower_valid(with_constant(1 << 18), {kImage}).rest, Indices{0});
}

TEST(Loop, RunsAlone) {
  const NetworkBuilder builder = with_loop();
  EXPECT_TRUE(runs_alone(builder.network.nodes[1]));
  EXPECT_FALSE(runs_alone(builder.network.nodes[0]));
  EXPECT_FALSE(runs_alone(with_if().network.nodes[0]));
}

// The value that it carries is transposed each time.
TEST(Loop, WhoseIterationsGivePartsOfDifferentShapesIsRefused) {
  NetworkBuilder body;
  body.node("Identity", {"go"}, {"go_on"});
  body.node("Transpose", {"carried"}, {"next"}, {{"perm", Dims{1, 0}}});
  NetworkBuilder builder = loop_of(2, body.output("go_on").output("next").output("next"));
  builder.network.nodes[0].outputs = {"end", "all"};
  builder.network.outputs = {{"all", DataType::kUnknown}};
  const Status status = lower(builder, {kImage}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("[6,2] and FLOAT32 [2,6]"));
}

// The scan runs backwards along the last dimension.
TEST(Scan, OfFewPartsBecomesTheirNodes) {
  NetworkBuilder body, builder;
  body.network.inputs = {{"state"}, {"part"}};
  body.node("Add", {"state", "part"}, {"sum"}).output("sum").output("sum");
  builder.node("Scan", {"start", "parts"}, {"end", "sums"},
               {body.as("body"),
                {"num_scan_inputs", int64_t{1}},
                {"scan_input_axes", Dims{-1}},
                {"scan_input_directions", Dims{1}},
                {"scan_output_axes", Dims{1}}});
  builder.output("end").output("sums");
  const Stage stage = lower_valid(builder, {given("start", DataType::kFloat32, {2}),
                                            given("parts", DataType::kFloat32, {2, 4})});
  EXPECT_TRUE(stage.rest.empty());
  EXPECT_EQ(output_shape(stage, 0), Dims{2});
  EXPECT_EQ(output_shape(stage, 1), (Dims{2, 4}));
}

// The inputs that it states do not fit each other: the run says why.
TEST(Scan, OfDifferentLengthsIsLeftToTheRest) {
  NetworkBuilder body, builder;
  body.network.inputs = {{"a"}, {"b"}};
  body.node("Add", {"a", "b"}, {"sum"}).output("sum");
  builder.node("Scan", {"p", "q"}, {"y"}, {body.as("body"), {"num_scan_inputs", int64_t{2}}});
  builder.output("y");
  const Stage stage = lower_valid(
      builder, {given("p", DataType::kFloat32, {2}), given("q", DataType::kFloat32, {3})});
  EXPECT_EQ(stage.rest, Indices{0});
}

TEST(Loop, WhoseBodyCannotRunIsRefused) {
  NetworkBuilder body, builder;
  body.node("StringNormalizer", {"x"}, {"s"}).output("s").captures({"x"});
  builder.node("Loop", {"", "", "x"}, {"y"}, {body.as("body")}).output("y");
  EXPECT_THAT(lower(builder, {kImage}).status().message(), HasSubstr("'y_node/body/s_node'"));
  EXPECT_EQ(check_operators(builder.network).code(), StatusCode::kUnsupported);
  EXPECT_TRUE(check_operators(with_loop().network).ok());
}

TEST(LowerWhole, HasAllInputsAndOutputsInTheirOrder) {
  NetworkBuilder builder;
  builder.network.inputs = {{"unread", DataType::kInt32, true, {{4, ""}}},
                            {"x", DataType::kFloat32, true, {{2, ""}, {6, ""}}}};
  builder.initializer(ints("k", {7})).node("Relu", {"x"}, {"y"});
  builder.output("k").output("x").output("y");
  const auto stage = lower_whole(builder.network, device::cpu::capabilities(), true);
  ASSERT_TRUE(stage.ok()) << stage.status().to_string();
  const graph::Graph& graph = stage->graph;
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.values[graph.inputs[0]].name, "unread");
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "k");
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "x");
  EXPECT_TRUE(graph::validate(graph).ok());
}

TEST(LowerWhole, NeedsStaticShapes) {
  NetworkBuilder builder;
  builder.network.inputs = {{"x", DataType::kFloat32, true, {{}}}};
  builder.node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(lower_whole(builder.network, device::cpu::capabilities(), true).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::lowering::test
