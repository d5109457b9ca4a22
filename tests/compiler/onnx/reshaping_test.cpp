#include <gtest/gtest.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

struct ShapeCase {
  int opset;
  const char* type;
  Dims input;
  Attributes attributes;
  std::optional<Dims> operand;  // the second one
  Dims expected;
};

TEST(ReshapingImport, ShapesOfAllForms) {
  const ShapeCase cases[] = {
      {7, "Reshape", {2, 3, 4}, {}, Dims{4, 6}, {4, 6}},
      {7, "Reshape", {2, 3, 4}, {}, Dims{0, -1}, {2, 12}},
      {14, "Reshape", {2, 3, 4}, {}, Dims{-1, 0, 2}, {4, 3, 2}},
      {7, "Flatten", {2, 3, 4}, {}, {}, {2, 12}},
      {7, "Flatten", {2, 3, 4}, {{"axis", 0}}, {}, {1, 24}},
      {7, "Flatten", {2, 3, 4}, {{"axis", 3}}, {}, {24, 1}},
      {11, "Flatten", {2, 3, 4}, {{"axis", -1}}, {}, {6, 4}},
      {7, "Squeeze", {1, 3, 1, 4}, {}, {}, {3, 4}},
      {7, "Squeeze", {1, 3, 1, 4}, {{"axes", Dims{0}}}, {}, {3, 1, 4}},
      {13, "Squeeze", {1, 3, 1, 4}, {}, Dims{-2}, {1, 3, 4}},
      {7, "Unsqueeze", {3, 4}, {{"axes", Dims{0, 3}}}, {}, {1, 3, 4, 1}},
      {13, "Unsqueeze", {3, 4}, {}, Dims{-1, 1}, {3, 1, 4, 1}},
  };
  for (const ShapeCase& test : cases) {
    Model model(test.opset);
    model.input("x", test.input).output("y");
    Names operands = {"x"};
    if (test.operand) {
      model.ints("operand", *test.operand);
      operands.push_back("operand");
    }
    const auto graph = import_valid(model.node(test.type, operands, {"y"}, test.attributes));
    EXPECT_EQ(operators_of(graph), std::vector<graph::Operator>{graph::Reshape{test.expected}})
        << test.type << " of opset " << test.opset;
  }
}

TEST(ReshapingImport, WhatDoesNotFitIsRefused) {
  const std::pair<const char*, Dims> cases[] = {
      {"Reshape", {5, 5}},
      {"Reshape", {-1, -1}},
      {"Reshape", {-1, 5}},
      {"Reshape", {0, 0, 0}},
      {"Reshape", {int64_t{1} << 62, 4}},
      {"Reshape", {-2, 3}},
      {"Squeeze", {1}},
      {"Squeeze", {7}},
      {"Unsqueeze", {0, 0}},
  };
  for (const auto& [type, operand] : cases) {
    Model model;
    model.input("x", {2, 3}).output("y").ints("operand", operand);
    const Status status = import_failure(model.node(type, {"x", "operand"}, {"y"}));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
    EXPECT_NE(status.message().find("y_node"), std::string::npos) << status.message();
  }
}

TEST(ReshapingImport, ShapeKnownAtRunTimeOnly) {
  Model model;
  model.input("x", {2, 3}).input("shape", {2}, TensorProto::INT64).output("y");
  const Status status = import_failure(model.node("Reshape", {"x", "shape"}, {"y"}));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("'shape' is not a constant"), std::string::npos)
      << status.message();
}

TEST(ReshapingImport, TransposeReversesByDefault) {
  Model model;
  model.input("x", {2, 3, 4}).output("y").node("Transpose", {"x"}, {"y"});
  EXPECT_EQ(operators_of(import_valid(model)),
            (std::vector<graph::Operator>{graph::Transpose{{2, 1, 0}}}));
}

TEST(ReshapingImport, TransposeOfAConstant) {
  Model model;
  model.floats("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  model.node("Transpose", {"x"}, {"y"}, {{"perm", Dims{1, 0}}});
  EXPECT_EQ(content<float>(computed(model)), content<float>({3, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(ReshapingImport, DepthToSpaceAndBack) {
  Model model;
  model.floats("x", {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Attributes dcr = {{"blocksize", 2}};
  const Attributes crd = {{"blocksize", 2}, {"mode", "CRD"}};
  EXPECT_EQ(content<float>(computed(Model(model).node("DepthToSpace", {"x"}, {"y"}, dcr))),
            content<float>({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(content<float>(computed(Model(model).node("DepthToSpace", {"x"}, {"y"}, crd))),
            content<float>({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  model.node("DepthToSpace", {"x"}, {"d"}, dcr).node("SpaceToDepth", {"d"}, {"y"}, dcr);
  EXPECT_EQ(content<float>(computed(model)),
            content<float>({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace millrace::compiler::test
