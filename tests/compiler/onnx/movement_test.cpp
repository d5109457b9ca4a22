#include <gtest/gtest.h>

#include <limits>

#include "tests/compiler/onnx_builder.h"

namespace millrace::compiler::test {
namespace {

using Operators = std::vector<graph::Operator>;
constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
constexpr int64_t kNear = std::numeric_limits<int64_t>::min();

struct SliceCase {
  Dims starts, ends, axes, steps;
  Dims shape;
  Floats expected;
};

// 0 to 11 as three rows.
Model rows() {
  Model model;
  return model.floats("x", {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST(SliceImport, ReadsBoundsAsNumpyDoes) {
  const SliceCase cases[] = {
      {{1}, {3}, {0}, {1}, {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}},
      {{0, 1}, {1, 3}, {0, 1}, {1, 1}, {1, 2}, {1, 2}},
      {{-2}, {kFar}, {1}, {1}, {3, 2}, {2, 3, 6, 7, 10, 11}},
      {{0}, {-1}, {-1}, {2}, {3, 2}, {0, 2, 4, 6, 8, 10}},
      {{-1}, {kNear}, {1}, {-1}, {3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}},
      {{kFar}, {kNear}, {0}, {-2}, {2, 4}, {8, 9, 10, 11, 0, 1, 2, 3}},
      {{2}, {0}, {0}, {-1}, {2, 4}, {8, 9, 10, 11, 4, 5, 6, 7}},
      {{1}, {kFar}, {0}, {kFar}, {1, 4}, {4, 5, 6, 7}},
      {{1}, {kNear}, {0}, {kNear}, {1, 4}, {4, 5, 6, 7}},
      {{kNear}, {1}, {0}, {1}, {1, 4}, {0, 1, 2, 3}},
  };
  for (const SliceCase& test : cases) {
    Model model = rows();
    model.ints("starts", test.starts).ints("ends", test.ends).ints("axes", test.axes);
    model.ints("steps", test.steps).node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    EXPECT_EQ(content<float>(computed(model)), content<float>(test.shape, test.expected));
  }
}

TEST(SliceImport, ListsAreAttributesBeforeOpset10) {
  Model model(7);
  model.input("x", {3, 4}).output("y");
  model.node("Slice", {"x"}, {"y"}, {{"starts", Dims{1}}, {"ends", Dims{-1}}, {"axes", Dims{1}}});
  EXPECT_EQ(operators_of(import_valid(model)), (Operators{graph::Slice{{0, 1}, {3, 2}, {1, 1}}}));
}

TEST(SliceImport, WhatIsWrong) {
  struct Case {
    Dims starts, ends, axes, steps;
    StatusCode code;
  };
  const Case cases[] = {
      {{0}, {1}, {0}, {0}, StatusCode::kInvalidArgument},
      {{0}, {1}, {2}, {1}, StatusCode::kInvalidArgument},
      {{0, 0}, {1, 1}, {0, -2}, {1, 1}, StatusCode::kInvalidArgument},
      {{0, 0}, {1}, {0, 1}, {1, 1}, StatusCode::kInvalidArgument},
  };
  for (const Case& test : cases) {
    Model model;
    model.input("x", {3, 4}).output("y").ints("starts", test.starts).ints("ends", test.ends);
    model.ints("axes", test.axes).ints("steps", test.steps);
    model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    const Status status = import_failure(model);
    EXPECT_EQ(status.code(), test.code) << status.message();
    EXPECT_NE(status.message().find("y_node"), std::string::npos) << status.message();
  }
}

TEST(SliceImport, MaySelectNothing) {
  struct Case {
    Dims starts, ends, steps;
  };
  for (const Case& test :
       {Case{{2}, {1}, {1}}, Case{{kFar}, {kFar}, {1}}, Case{{kNear}, {kNear}, {-1}}}) {
    Model model;
    model.input("x", {3, 4}).output("y").ints("starts", test.starts).ints("ends", test.ends);
    model.ints("axes", {0}).ints("steps", test.steps);
    model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    EXPECT_EQ(output_of(import_valid(model)).shape, (Dims{0, 4}));
  }
}

TEST(SplitImport, PartsBecomeSlices) {
  const graph::Slice first{{0, 0}, {3, 1}, {1, 1}};
  const graph::Slice second{{0, 1}, {3, 3}, {1, 1}};
  Model by_attribute(11);
  by_attribute.input("x", {3, 4}).output("a").output("b");
  Model by_operand(13);
  by_operand.input("x", {3, 4}).output("a").output("b").ints("split", {1, 3});
  by_attribute.node("Split", {"x"}, {"a", "b"}, {{"axis", 1}, {"split", Dims{1, 3}}});
  by_operand.node("Split", {"x", "split"}, {"a", "b"}, {{"axis", -1}});
  for (const Model& model : {by_attribute, by_operand}) {
    const auto graph = import_valid(model);
    EXPECT_EQ(operators_of(graph), (Operators{first, second}));
    EXPECT_EQ(graph.values[graph.outputs[1]].name, "b");
  }
}

TEST(SplitImport, EqualPartsOfWhichTheLastIsSmaller) {
  Model model(18);
  model.input("x", {5}).output("a").output("b").output("c");
  const auto graph =
      import_valid(model.node("Split", {"x"}, {"a", "b", "c"}, {{"num_outputs", 3}}));
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.values[graph.outputs[0]].shape, (Dims{2}));
  EXPECT_EQ(graph.values[graph.outputs[2]].shape, (Dims{1}));
}

TEST(SplitImport, PartsMustAddUp) {
  for (const Dims& parts : {Dims{1, 2}, Dims{1, 4}, Dims{4}, Dims{-1, 5}}) {
    Model model(11);
    model.input("x", {4}).output("a").output("b");
    model.node("Split", {"x"}, {"a", "b"}, {{"split", parts}});
    EXPECT_EQ(import_failure(model).code(), StatusCode::kInvalidArgument);
  }
}

TEST(GatherImport, OfConstants) {
  Model model = rows();
  model.constant(int_tensor("i", {2}, {-1, 0}));
  model.node("Gather", {"x", "i"}, {"y"}, {{"axis", 1}});
  EXPECT_EQ(content<float>(computed(model)), content<float>({3, 2}, {3, 0, 7, 4, 11, 8}));
}

TEST(GatherImport, IndexOutsideTheDataIsRefused) {
  Model model = rows();
  model.input("unused", {1}).output("y").constant(int_tensor("i", {}, {3}));
  const Status status = import_failure(model.node("Gather", {"x", "i"}, {"y"}));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

TEST(ConcatImport, OfConstants) {
  Model model;
  model.floats("a", {2, 1}, {1, 2}).floats("b", {2, 2}, {3, 4, 5, 6});
  model.node("Concat", {"a", "b"}, {"y"}, {{"axis", 1}});
  EXPECT_EQ(content<float>(computed(model)), content<float>({2, 3}, {1, 3, 4, 2, 5, 6}));
}

TEST(PadImport, AttributesThenOperandsThenAxes) {
  const graph::Pad expected{graph::PadMode::kConstant, {0, 1}, {0, 2}, 5};
  Model old(7);
  old.input("x", {3, 4}).output("y");
  old.node("Pad", {"x"}, {"y"}, {{"pads", Dims{0, 1, 0, 2}}, {"value", 5.0}});
  EXPECT_EQ(operators_of(import_valid(old)), Operators{expected});

  Model later(13);
  later.input("x", {3, 4}).output("y").ints("pads", {0, 1, 0, 2}).floats("value", {}, {5});
  later.node("Pad", {"x", "pads", "value"}, {"y"});
  EXPECT_EQ(operators_of(import_valid(later)), Operators{expected});

  Model with_axes(18);
  with_axes.input("x", {3, 4}).output("y").ints("pads", {1, 2}).floats("value", {}, {5});
  with_axes.ints("axes", {-1}).node("Pad", {"x", "pads", "value", "axes"}, {"y"});
  EXPECT_EQ(operators_of(import_valid(with_axes)), Operators{expected});
}

TEST(PadImport, ModesOnConstants) {
  const std::pair<const char*, Floats> cases[] = {{"constant", {0, 0, 1, 2, 3, 0}},
                                                  {"edge", {1, 1, 1, 2, 3, 3}},
                                                  {"reflect", {3, 2, 1, 2, 3, 2}}};
  for (const auto& [mode, expected] : cases) {
    Model model;
    model.floats("x", {3}, {1, 2, 3}).ints("pads", {2, 1});
    model.node("Pad", {"x", "pads"}, {"y"}, {{"mode", mode}});
    EXPECT_EQ(content<float>(computed(model)), content<float>({6}, expected)) << mode;
  }
  Model model(19);
  model.input("x", {3}).output("y").ints("pads", {2, 1});
  model.node("Pad", {"x", "pads"}, {"y"}, {{"mode", "wrap"}});
  EXPECT_TRUE(std::holds_alternative<graph::Fallback>(import_valid(model).nodes.back().op));
}

TEST(ExpandImport, BroadcastsBothWays) {
  Model model;
  model.floats("x", {2, 1}, {1, 2}).ints("shape", {3});
  model.node("Expand", {"x", "shape"}, {"y"});
  EXPECT_EQ(content<float>(computed(model)), content<float>({2, 3}, {1, 1, 1, 2, 2, 2}));
}

TEST(TileImport, RepeatsWholeDimensions) {
  Model model;
  model.floats("x", {2, 2}, {1, 2, 3, 4}).ints("repeats", {2, 2});
  model.node("Tile", {"x", "repeats"}, {"y"});
  EXPECT_EQ(content<float>(computed(model)),
            content<float>({4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
}

}  // namespace
}  // namespace millrace::compiler::test
