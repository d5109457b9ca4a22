// Tensors without elements.
#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

// The shape of y in a model that has a node of this type.
Dims shape_of(Model model, const std::string& type, const Names& inputs,
              const Attributes& attributes = {}) {
  return output_of(import_valid(model.output("y").node(type, inputs, {"y"}, attributes))).shape;
}

Model empty_x(int opset = 13) {
  return Model(opset).input("x", {2, 0, 3});
}

TEST(Empty, PassesThroughOperators) {
  EXPECT_EQ(shape_of(empty_x(), "Relu", {"x"}), (Dims{2, 0, 3}));
  EXPECT_EQ(shape_of(empty_x(), "Transpose", {"x"}), (Dims{3, 0, 2}));
  EXPECT_EQ(shape_of(empty_x(), "Flatten", {"x"}), (Dims{2, 0}));
  EXPECT_EQ(shape_of(empty_x().floats("one", {1}, {1}), "Add", {"x", "one"}), (Dims{2, 0, 3}));
  EXPECT_EQ(shape_of(empty_x(), "ReduceSum", {"x"}, {{"keepdims", 0}}), (Dims{}));
}

TEST(Empty, ReshapeCopiesOrStatesZero) {
  EXPECT_EQ(shape_of(empty_x().ints("to", {0, 0, 3, 1}), "Reshape", {"x", "to"}),
            (Dims{2, 0, 3, 1}));
  EXPECT_EQ(shape_of(empty_x(14).ints("to", {5, 0}), "Reshape", {"x", "to"}, {{"allowzero", 1}}),
            (Dims{5, 0}));
}

TEST(Empty, SlicesOfNothing) {
  const Model model = Model().input("x", {4}).ints("begin", {3}).ints("end", {3});
  EXPECT_EQ(shape_of(model, "Slice", {"x", "begin", "end"}), (Dims{0}));
  EXPECT_EQ(
      shape_of(empty_x().ints("begin", {9}).ints("end", {-9}).ints("axis", {1}).ints("step", {-2}),
               "Slice", {"x", "begin", "end", "axis", "step"}),
      (Dims{2, 0, 3}));
}

TEST(Empty, SplitsMayHaveNoSize) {
  Model model = Model().input("x", {2}).ints("sizes", {0, 2}).output("y").output("z");
  const auto graph = import_valid(model.node("Split", {"x", "sizes"}, {"y", "z"}));
  EXPECT_EQ(output_of(graph).shape, (Dims{0}));
  EXPECT_EQ(graph.values[graph.outputs[1]].shape, (Dims{2}));
}

TEST(Empty, ExpandAndTileToNothing) {
  const Model model = Model().input("x", {3, 1}).ints("to", {1, 0});
  EXPECT_EQ(shape_of(model, "Expand", {"x", "to"}), (Dims{3, 0}));
  EXPECT_EQ(shape_of(model, "Tile", {"x", "to"}), (Dims{3, 0}));
}

TEST(Empty, ListsThatAreComputedElsewhereAreKnown) {
  Model model = Model().input("x", {2, 3}).input("axes", {0}, TensorProto::INT64);
  EXPECT_EQ(shape_of(model, "ReduceSum", {"x", "axes"}), (Dims{1, 1}));
}

TEST(Empty, ConstantsAreComputed) {
  EXPECT_EQ(
      content<float>(computed(Model().ints("shape", {}).node("ConstantOfShape", {"shape"}, {"y"}))),
      content<float>({}, {0}));
  EXPECT_EQ(content<float>(computed(Model()
                                        .floats("a", {1, 0}, {})
                                        .floats("b", {1, 2}, {3, 4})
                                        .node("Concat", {"a", "b"}, {"y"}, {{"axis", 1}}))),
            content<float>({1, 2}, {3, 4}));
  EXPECT_EQ(
      content<float>(computed(
          Model().floats("a", {2, 0}, {}).node("ReduceProd", {"a"}, {"y"}, {{"keepdims", 0}}))),
      content<float>({}, {1}));
  EXPECT_EQ(content<float>(computed(Model()
                                        .floats("a", {1, 0}, {})
                                        .floats("b", {0, 2}, {})
                                        .node("MatMul", {"a", "b"}, {"y"}))),
            content<float>({1, 2}, {0, 0}));
}

TEST(Empty, SizesThatOverflowAreRefused) {
  const Model model = Model().input("x", {int64_t{1} << 30}).ints("by", {int64_t{1} << 40});
  EXPECT_EQ(import_failure(Model(model).output("y").node("Tile", {"x", "by"}, {"y"})).code(),
            StatusCode::kInvalidArgument);
}

// Arithmetic of FLOAT64 is a fallback; what only moves elements is not.
TEST(Doubles, AreComputedAsSuch) {
  Model model = Model().input("x", {2, 3}, TensorProto::DOUBLE).output("y", TensorProto::DOUBLE);
  model.node("Transpose", {"x"}, {"t"}).node("Exp", {"t"}, {"e"}).node("Add", {"e", "e"}, {"y"});
  const auto graph = import_valid(model);
  const auto operators = operators_of(graph);
  ASSERT_EQ(operators.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<graph::Transpose>(operators[0]));
  EXPECT_EQ(operators[1], graph::Operator(graph::Fallback{"Exp", {}}));
  EXPECT_EQ(operators[2], graph::Operator(graph::Fallback{"Add", {}}));
  EXPECT_EQ(output_of(graph).type, tensor::DataType::kFloat64);
}

TEST(Doubles, ConstantsKeepTheirDigits) {
  TensorProto third;
  third.set_name("third");
  third.set_data_type(TensorProto::DOUBLE);
  third.add_double_data(1.0 / 3);
  const auto y = computed(Model().constant(third).node("Mul", {"third", "third"}, {"y"}));
  EXPECT_EQ(content<double>(y), content<double>({}, {1.0 / 3 * (1.0 / 3)}));
  EXPECT_EQ(content<float>(computed(Model().constant(third).node("Cast", {"third"}, {"y"},
                                                                 {{"to", TensorProto::FLOAT}}))),
            content<float>({}, {1.0f / 3}));
}

}  // namespace
}  // namespace millrace::compiler::test
