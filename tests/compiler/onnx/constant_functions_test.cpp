#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using Ints = std::vector<int64_t>;
using Booleans = std::vector<uint8_t>;

TEST(ConstantImport, AllForms) {
  const auto constant = [](Attribute attribute) {
    return computed(Model().node("Constant", {}, {"y"}, {std::move(attribute)}));
  };
  EXPECT_EQ(content<float>(constant({"value", tensor("t", {2}, {1, 2})})),
            content<float>({2}, {1, 2}));
  EXPECT_EQ(content<float>(constant({"value_float", 1.5})), content<float>({}, {1.5f}));
  EXPECT_EQ(content<float>(constant({"value_floats", Floats{1, 2}})), content<float>({2}, {1, 2}));
  EXPECT_EQ(content<int64_t>(constant({"value_int", 7})), content<int64_t>({}, {7}));
  EXPECT_EQ(content<int64_t>(constant({"value_ints", Dims{7, 8}})), content<int64_t>({2}, {7, 8}));
}

TEST(ConstantImport, OtherFormsAreNotSupported) {
  Model model;
  model.input("x", {1}).output("y").node("Constant", {}, {"y"}, {{"value_string", "text"}});
  EXPECT_EQ(import_failure(model).code(), StatusCode::kUnsupported);
}

TEST(ConstantOfShapeImport, FillsWithItsValue) {
  Model model;
  model.ints("shape", {2, 2});
  EXPECT_EQ(content<float>(computed(Model(model).node("ConstantOfShape", {"shape"}, {"y"}))),
            content<float>({2, 2}, {0, 0, 0, 0}));
  const Attributes sevens = {{"value", int_tensor("v", {1}, {7})}};
  EXPECT_EQ(content<int64_t>(computed(model.node("ConstantOfShape", {"shape"}, {"y"}, sevens))),
            content<int64_t>({2, 2}, {7, 7, 7, 7}));
}

TEST(ConstantOfShapeImport, HugeShapesAreRefused) {
  for (const Dims& shape : {Dims{1 << 20, 1 << 20}, Dims{int64_t{1} << 62, 8}, Dims{-1}}) {
    Model model;
    model.input("x", {1}).output("y").ints("shape", shape);
    const Status status = import_failure(model.node("ConstantOfShape", {"shape"}, {"y"}));
    EXPECT_NE(status.message().find("y_node"), std::string::npos) << status.message();
  }
}

TEST(ConstantOfShapeImport, ManyLargeOnesAreRefusedToo) {
  Model model;
  model.input("x", {1}).output("y0").ints("shape", {64 << 20});
  for (int i = 0; i < 64; ++i) {
    model.node("ConstantOfShape", {"shape"}, {fmt::format("y{}", i)});
  }
  const Status status = import_failure(model);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("constants it computes"), std::string::npos) << status.message();
}

TEST(ShapeImport, OfWholeAndPart) {
  const auto shape = [](int opset, const Attributes& attributes) {
    Model model(opset);
    model.input("x", {2, 3, 4}).output("y").node("Shape", {"x"}, {"y"}, attributes);
    const auto graph = import_valid(model);
    return content<int64_t>(graph.values[graph.nodes[0].inputs[0]]);
  };
  EXPECT_EQ(shape(7, {}), content<int64_t>({3}, {2, 3, 4}));
  EXPECT_EQ(shape(15, {{"start", 1}}), content<int64_t>({2}, {3, 4}));
  EXPECT_EQ(shape(15, {{"start", -3}, {"end", -1}}), content<int64_t>({2}, {2, 3}));
}

TEST(ShapeImport, ChainsOfExportersLeaveNoNodes) {
  // PyTorch writes these nodes for x.view(x.size(0), -1).
  Model model(11);
  model.input("x", {-1, 2, 3}).output("y").node("Shape", {"x"}, {"s"});
  model.constant(int_tensor("zero", {}, {0})).node("Gather", {"s", "zero"}, {"n"});
  model.node("Unsqueeze", {"n"}, {"n1"}, {{"axes", Dims{0}}}).ints("rest", {-1});
  model.node("Concat", {"n1", "rest"}, {"shape"}, {{"axis", 0}});
  const auto graph = import_valid(model.node("Reshape", {"x", "shape"}, {"y"}));
  EXPECT_EQ(operators_of(graph), (std::vector<graph::Operator>{graph::Reshape{{1, 6}}}));
  EXPECT_EQ(graph.values.size(), 2u);
}

TEST(SizeImport, CountsElements) {
  Model model;
  model.floats("x", {2, 3}, Floats(6)).node("Size", {"x"}, {"y"});
  EXPECT_EQ(content<int64_t>(computed(model)), content<int64_t>({}, {6}));
}

TEST(RangeImport, CountsUpAndDown) {
  Model up;
  up.constant(int_tensor("a", {}, {2})).constant(int_tensor("b", {}, {9}));
  up.constant(int_tensor("c", {}, {3})).node("Range", {"a", "b", "c"}, {"y"});
  EXPECT_EQ(content<int64_t>(computed(up)), content<int64_t>({3}, {2, 5, 8}));
  Model down;
  down.floats("a", {}, {1}).floats("b", {}, {-1}).floats("c", {}, {-0.5});
  down.node("Range", {"a", "b", "c"}, {"y"});
  EXPECT_EQ(content<float>(computed(down)), content<float>({4}, {1, 0.5, 0, -0.5}));
}

// Elements of opset 27 do not depend on those before them: ten additions of 0.1 in FLOAT32 would
// give 1.0000001.
TEST(RangeImport, OfOpset27MultipliesTheStep) {
  const auto range = [](int opset, const Attributes& attributes) {
    Model model(opset);
    model.floats("a", {}, {0}).floats("b", {}, {1.05f}).floats("c", {}, {0.1f});
    model.node("Range", {"a", "b", "c"}, {"y"}, attributes);
    return content<float>(computed(model));
  };
  Floats products, in_double;
  for (int i = 0; i < 11; ++i) {
    products.push_back(static_cast<float>(i) * 0.1f);
    in_double.push_back(static_cast<float>(i * static_cast<double>(0.1f)));
  }
  EXPECT_EQ(range(27, {}), content<float>({11}, products));
  EXPECT_EQ(range(27, {{"stash_type", TensorProto::FLOAT}}), content<float>({11}, products));
  EXPECT_EQ(range(27, {{"stash_type", TensorProto::DOUBLE}}), content<float>({11}, in_double));
  EXPECT_NE(range(26, {}), content<float>({11}, products));
}

TEST(RangeImport, RefusesAnotherStashType) {
  Model model(27);
  model.input("x", {1}).output("y").floats("a", {}, {0}).floats("b", {}, {1});
  model.node("Range", {"a", "b", "b"}, {"r"}, {{"stash_type", TensorProto::FLOAT16}});
  const std::string message = import_failure(model.node("Add", {"x", "r"}, {"y"})).message();
  EXPECT_NE(message.find("stash_type is 10"), std::string::npos) << message;
}

TEST(RangeImport, EndlessOnesAreRefused) {
  Model model;
  model.input("x", {1}).output("y").floats("a", {}, {1}).floats("zero", {}, {0});
  const Status status = import_failure(model.node("Range", {"zero", "a", "zero"}, {"y"}));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

TEST(ComparisonImport, Broadcasts) {
  const std::pair<const char*, Booleans> cases[] = {{"Equal", {0, 1, 0}},
                                                    {"Less", {1, 0, 0}},
                                                    {"LessOrEqual", {1, 1, 0}},
                                                    {"Greater", {0, 0, 1}},
                                                    {"GreaterOrEqual", {0, 1, 1}}};
  for (const auto& [type, expected] : cases) {
    Model model;
    model.ints("a", {1, 2, 3}).ints("b", {2}).node(type, {"a", "b"}, {"y"});
    const graph::Value value = computed(model);
    EXPECT_EQ(value.type, tensor::DataType::kBoolean);
    EXPECT_EQ(content<uint8_t>(value), content<uint8_t>({3}, expected)) << type;
  }
}

TEST(LogicalImport, AndOrNot) {
  Model model;
  model.constant(int_tensor("a", {4}, {0, 0, 1, 1}, TensorProto::BOOL));
  model.constant(int_tensor("b", {4}, {0, 1, 0, 1}, TensorProto::BOOL));
  const auto value = [](Model m, const char* type, const Names& inputs) {
    return content<uint8_t>(computed(m.node(type, inputs, {"y"})));
  };
  EXPECT_EQ(value(model, "And", {"a", "b"}), content<uint8_t>({4}, {0, 0, 0, 1}));
  EXPECT_EQ(value(model, "Or", {"a", "b"}), content<uint8_t>({4}, {0, 1, 1, 1}));
  EXPECT_EQ(value(model, "Not", {"a"}), content<uint8_t>({4}, {1, 1, 0, 0}));
}

TEST(WhereImport, ChoosesFromConstants) {
  Model model;
  model.constant(int_tensor("c", {3}, {1, 0, 1}, TensorProto::BOOL));
  model.ints("a", {1, 2, 3}).ints("b", {9}).node("Where", {"c", "a", "b"}, {"y"});
  EXPECT_EQ(content<int64_t>(computed(model)), content<int64_t>({3}, {1, 9, 3}));
}

TEST(WhereImport, OnComputedTensorsIsAFallback) {
  Model model;
  model.input("x", {3}).output("y").floats("b", {1}, {9});
  model.constant(int_tensor("c", {3}, {1, 0, 1}, TensorProto::BOOL));
  const graph::Graph graph = import_valid(model.node("Where", {"c", "x", "b"}, {"y"}));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, graph::Operator(graph::Fallback{"Where", {}}));
}

// Makes three square matrices of ones, and the sum of all products of their elements.
Model product_of_squares(int64_t side) {
  Model model;
  model.floats("one", {1, 1}, {1}).ints("square", {side, side});
  model.node("Expand", {"one", "square"}, {"a"});
  return model.node("Einsum", {"a", "a", "a"}, {"sum"}, {{"equation", "ij,kl,mn->"}});
}

TEST(EinsumImport, OfConstantsIsComputed) {
  Model model = product_of_squares(3);
  model.node("Identity", {"sum"}, {"y"});
  EXPECT_EQ(content<float>(computed(model)), content<float>({}, {729}));
}

// A file of two hundred bytes asks for 10^12 products.
TEST(EinsumImport, OfConstantsIsLeftToJobsBeyondTheBudget) {
  Model model = product_of_squares(100);
  model.input("x", {1}).output("y").node("Add", {"x", "sum"}, {"y"});
  const graph::Graph graph = import_valid(model);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].op,
            graph::Operator(graph::Fallback{"Einsum", {{"equation", std::string("ij,kl,mn->")}}}));
}

TEST(NonZeroImport, ListsPositionsByDimension) {
  Model model;
  model.floats("x", {2, 2}, {1, 0, 3, 4}).node("NonZero", {"x"}, {"y"});
  EXPECT_EQ(content<int64_t>(computed(model)), content<int64_t>({2, 3}, {0, 1, 1, 0, 0, 1}));
}

}  // namespace
}  // namespace millrace::compiler::test
