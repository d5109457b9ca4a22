#include "vart/vart_inferresult.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Node = std::shared_ptr<InferResult>;

Node node(InferResultType type = InferResultType::ROOT) {
  return std::make_shared<InferResult>(type);
}

DetectionResData& box_of(const Node& result) {
  return static_cast<DetectionResData&>(*result->get_infer_result());
}

// A box of 10, 20, 30 x 40 pixels after the transformation.
DetectionResData transformed(InferResScaleInfo info) {
  const Node result = node(InferResultType::DETECTION);
  DetectionResData& box = box_of(result);
  box.x = 10;
  box.y = 20;
  box.width = 30;
  box.height = 40;
  result->transform(info);
  return box;
}

void expect_box(const DetectionResData& box, int x, int y, unsigned width, unsigned height) {
  EXPECT_EQ(box.x, x);
  EXPECT_EQ(box.y, y);
  EXPECT_EQ(box.width, width);
  EXPECT_EQ(box.height, height);
}

TEST(InferResult, NodesHaveAResultOfTheirType) {
  EXPECT_EQ(node()->get_infer_result(), nullptr);
  for (const auto type : {InferResultType::CLASSIFICATION, InferResultType::DETECTION,
                          InferResultType::SEGMENTATION, InferResultType::CUSTOM_RESULT_2})
    EXPECT_EQ(node(type)->get_infer_result()->result_type, type);
}

TEST(InferResult, ChildrenKnowTheirParentAndRoot) {
  const Node root = node(), child = node(), leaf = node(InferResultType::DETECTION);
  root->add_children({child, node()});
  child->add_child(leaf);
  EXPECT_THAT(root->get_children(), ::testing::SizeIs(2));
  EXPECT_THAT(leaf->get_children(), IsEmpty());
  EXPECT_EQ(leaf->get_parent(), child);
  EXPECT_EQ(leaf->get_root(), root);
  EXPECT_EQ(root->get_parent(), nullptr);
  EXPECT_EQ(root->get_root(), root);
  EXPECT_EQ(root->get_depth(), 0U);
  EXPECT_EQ(leaf->get_depth(), 2U);
}

TEST(InferResult, ChildLeavesItsFormerParent) {
  const Node first = node(), second = node(), child = node();
  first->add_child(child);
  second->add_child(child);
  EXPECT_THAT(first->get_children(), IsEmpty());
  EXPECT_THAT(second->get_children(), ElementsAre(child));
  EXPECT_EQ(child->get_parent(), second);
}

TEST(InferResult, ChildOutlivesItsParent) {
  const Node child = node();
  node()->add_child(child);
  EXPECT_EQ(child->get_parent(), nullptr);
}

TEST(InferResult, CyclesAndNullsAreRefused) {
  const Node root = node(), child = node();
  root->add_child(child);
  EXPECT_THAT(test::reason([&] { child->add_child(root); }), HasSubstr("above"));
  EXPECT_THAT(test::reason([&] { root->add_child(root); }), HasSubstr("itself"));
  EXPECT_THAT(test::reason([&] { root->add_child(nullptr); }), HasSubstr("null"));
  EXPECT_THAT(test::reason([&] { root->traverse({}, TraversalOrder::PREORDER, nullptr); }),
              HasSubstr("no function"));
  EXPECT_THAT(test::reason([] { InferResult(std::shared_ptr<InferResultImplBase>()); }),
              HasSubstr("null"));
}

TEST(InferResult, TraversalTakesEachNodeInItsOrder) {
  const Node root = node(), a = node(), b = node(), a1 = node();
  root->add_children({a, b});
  a->add_child(a1);
  const auto order = [&](TraversalOrder traversal) {
    std::vector<Node> visited;
    root->traverse(
        [](Node visit, void* list) { static_cast<std::vector<Node>*>(list)->push_back(visit); },
        traversal, &visited);
    return visited;
  };
  EXPECT_THAT(order(TraversalOrder::PREORDER), ElementsAre(root, a, a1, b));
  EXPECT_THAT(order(TraversalOrder::INORDER), ElementsAre(a1, a, root, b));
  EXPECT_THAT(order(TraversalOrder::POSTORDER), ElementsAre(a1, a, b, root));
}

TEST(InferResultTransform, UndoesTheGeometryOfPreprocessing) {
  InferResScaleInfo info;
  info.input_frame_width = 1;  // does not count beside the geometry
  info.scale_x = 0.5F;
  info.scale_y = 2;
  info.crop_x = 7;
  info.pad_y = 4;
  expect_box(transformed(info), 10 * 2 + 7, (20 - 4) / 2, 60, 20);
}

TEST(InferResultTransform, OtherwiseFollowsTheSizesThenTheFactors) {
  InferResScaleInfo info;
  info.width_scale_factor = 3;
  info.height_scale_factor = 0.5F;
  expect_box(transformed(info), 30, 10, 90, 20);
  info.input_frame_width = 1920;
  info.input_frame_height = 1080;
  info.model_input_width = 960;
  info.model_input_height = 270;
  expect_box(transformed(info), 20, 80, 60, 160);
}

TEST(InferResultTransform, WithoutAnyGeometryBoxesStay) {
  expect_box(transformed({}), 10, 20, 30, 40);
}

TEST(InferResultTransform, EdgesAreRoundedAndStayWithinTheirTypes) {
  InferResScaleInfo thirds;
  thirds.width_scale_factor = thirds.height_scale_factor = 1 / 3.0F;
  expect_box(transformed(thirds), 3, 7, 10, 13);
  InferResScaleInfo huge;
  huge.width_scale_factor = huge.height_scale_factor = 1e30F;
  const DetectionResData box = transformed(huge);
  EXPECT_EQ(box.x, std::numeric_limits<int32_t>::max());
  EXPECT_EQ(box.width, std::numeric_limits<uint32_t>::max());
}

TEST(InferResultTransform, ScalesThatAreNoneAreRefused) {
  InferResScaleInfo info;
  info.scale_x = 1;
  EXPECT_THAT(test::reason([&] { transformed(info); }), HasSubstr("scale of 0"));
  info.scale_y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(test::reason([&] { transformed(info); }), HasSubstr("nan"));
  info.scale_y = -1;
  EXPECT_THAT(test::reason([&] { transformed(info); }), HasSubstr("-1"));
}

TEST(InferResultTransform, OtherResultsStay) {
  const Node result = node(InferResultType::CLASSIFICATION);
  InferResScaleInfo info;
  info.width_scale_factor = info.height_scale_factor = 2;
  static_cast<ClassificationResData*>(result->get_infer_result())->index = {5};
  result->transform(info);
  EXPECT_THAT(static_cast<ClassificationResData*>(result->get_infer_result())->index,
              ElementsAre(5));
}

}  // namespace
}  // namespace vart
