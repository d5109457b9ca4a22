// Tests what MetaConvert shows of results, and where.
#include "vart/vart_metaconvert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/log_capture.h"
#include "tests/vartx/thrown_reason.h"

namespace vart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Node = std::shared_ptr<InferResult>;

template <class Data>
Node result(InferResultType type, Data data) {
  const auto node = std::make_shared<InferResult>(type);
  data.result_type = type;
  static_cast<Data&>(*node->get_infer_result()) = data;
  return node;
}

Node box(const std::string& label) {
  DetectionResData data;
  data.x = 10;
  data.y = 40;
  data.width = 30;
  data.height = 20;
  data.label = label;
  data.class_id = 3;
  data.confidence = 0.876;
  return result(InferResultType::DETECTION, data);
}

Node classification() {
  ClassificationResData data;
  data.label = {"cat", ""};
  data.confidence = {0.5, 0.25};
  data.index = {4, 900};
  return result(InferResultType::CLASSIFICATION, data);
}

Node map(uint32_t width, uint32_t height, std::vector<uint16_t> classes) {
  SegmentationResData data;
  data.numOutputs = 1;
  data.width = {width};
  data.height = {height};
  data.class_map = {std::move(classes)};
  return result(InferResultType::SEGMENTATION, data);
}

Node root_of(const std::vector<Node>& children) {
  const auto root = std::make_shared<InferResult>(InferResultType::ROOT);
  root->add_children(children);
  return root;
}

std::shared_ptr<OverlayShapeInfo> convert(const Node& root, std::string json = "") {
  const auto device = Device::get_device_hdl(0, "");
  return MetaConvert(InferResultType::DETECTION, json, device).prepare_overlay_meta(root);
}

std::vector<std::string> texts(const OverlayShapeInfo& info) {
  std::vector<std::string> result;
  for (const OverlayTextParams& text : info.text_params) result.emplace_back(text.disp_text);
  return result;
}

TEST(MetaConvert, DetectionIsABoxWithItsLabelAbove) {
  const auto info = convert(root_of({box("dog")}));
  ASSERT_THAT(info->rect_params, SizeIs(1));
  const OverlayRectParams& rect = info->rect_params[0];
  EXPECT_EQ(rect.points.x, 10);
  EXPECT_EQ(rect.points.y, 40);
  EXPECT_EQ(rect.width, 30U);
  EXPECT_EQ(rect.height, 20U);
  EXPECT_EQ(rect.thickness, 1U);
  EXPECT_THAT(texts(*info), ElementsAre("dog"));
  EXPECT_EQ(info->text_params[0].points.x, 10);
  EXPECT_LT(info->text_params[0].points.y, 40);
  EXPECT_EQ(info->text_params[0].text_font.font_size, 0.5F);
}

TEST(MetaConvert, ShapesOutliveWhatMadeThem) {
  const auto info = convert(root_of({box("a label too long to be kept inside a string object")}));
  EXPECT_THAT(texts(*info), ElementsAre("a label too long to be kept inside a string object"));
}

TEST(MetaConvert, KeysChangeTheLook) {
  const auto info = convert(root_of({box("")}), R"({"font-size": "1.5", "font": "3",
      "thickness": 4, "y-offset": "7", "draw-above-bbox-flag": "false", "label-filter": ["class"],
      "label-color": [{"level": "1", "red": 9, "green": "8", "blue": 7}]})");
  EXPECT_THAT(texts(*info), ElementsAre("3"));  // no label: the class
  const OverlayTextParams& text = info->text_params.at(0);
  EXPECT_GT(text.points.y, 47);
  EXPECT_EQ(text.text_font.font_num, 3);
  EXPECT_EQ(text.text_font.font_size, 1.5F);
  EXPECT_EQ(info->rect_params.at(0).thickness, 4U);
  EXPECT_EQ(info->rect_params.at(0).rect_color.red, 9);
  EXPECT_EQ(text.text_font.font_color.blue, 7);
}

TEST(MetaConvert, DefaultsOfKeys) {
  const Node root = root_of({box("dog")});
  const auto place = [&](const std::string& json) {
    const auto shapes = convert(root, json);
    return std::pair(shapes->text_params.at(0).points.x, shapes->text_params.at(0).points.y);
  };
  const auto font = [&](const std::string& json) {
    return convert(root, json)->text_params.at(0).text_font.font_num;
  };
  EXPECT_EQ(font(""), 0);
  EXPECT_EQ(font(R"({"font": 2})"), 2);
  EXPECT_EQ(place(R"({"y-offset": 0})"), place(""));
  EXPECT_EQ(place(R"({"y-offset": 3})").second, place("").second + 3);
  EXPECT_EQ(place(R"({"draw-above-bbox-flag": true})"), place(""));
  EXPECT_LT(place("").second, 40) << "above the box";
  EXPECT_GT(place(R"({"draw_above_bbox_flag": false})").second, 40) << "inside";
}

TEST(MetaConvert, ClassesAreLinesBelowEachOther) {
  const auto info = convert(classification());
  EXPECT_THAT(texts(*info), ElementsAre("cat", "900"));
  EXPECT_LT(info->text_params[0].points.y, info->text_params[1].points.y);
  EXPECT_THAT(info->rect_params, IsEmpty());
}

TEST(MetaConvert, DisplayLevelChoosesALevelOfTheTree) {
  const Node outer = box("outer");
  outer->add_child(box("inner"));
  const Node root = root_of({outer});
  EXPECT_THAT(texts(*convert(root)), SizeIs(2));
  EXPECT_THAT(texts(*convert(root, R"({"display-level": 1})")), ElementsAre("outer"));
  EXPECT_THAT(texts(*convert(root, R"({"display-level": "2"})")), ElementsAre("inner"));
  EXPECT_THAT(texts(*convert(root, R"({"display-level": 0})")), IsEmpty());
  EXPECT_THAT(texts(*convert(box("alone"), R"({"display-level": 1})")), ElementsAre("alone"));
  EXPECT_THAT(texts(*convert(root, R"({"display-level": 5})")), IsEmpty());
}

struct Color {
  explicit Color(const OverlayColorData& color)
      : red(color.red), green(color.green), blue(color.blue) {}
  Color(int red, int green, int blue) : red(red), green(green), blue(blue) {}
  bool operator==(const Color&) const = default;
  int red;
  int green;
  int blue;
};
const Color kRed(255, 0, 0);
const Color kGreen(0, 255, 0);
const Color kBlue(0, 0, 255);

// The colours of the boxes of a chain of results, each the child of the one before.
std::vector<Color> colors_of_chain(const std::vector<std::string>& labels,
                                   const std::string& json) {
  Node below;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    const Node node = box(*label);
    if (below) node->add_child(below);
    below = node;
  }
  std::vector<Color> colors;
  const auto shapes = convert(root_of({below}), json);
  for (const OverlayRectParams& rect : shapes->rect_params) colors.emplace_back(rect.rect_color);
  return colors;
}

TEST(MetaConvert, LevelsHaveColours) {
  const std::vector<std::string> labels = {"a", "b", "c", "d"};
  EXPECT_THAT(colors_of_chain(labels, ""), ElementsAre(kBlue, kGreen, kRed, Color(0, 255, 255)));
  EXPECT_THAT(colors_of_chain(labels, R"({"label-color": [
                  {"level": 0, "red": 1, "green": 2, "blue": 3},
                  {"level": 2, "red": 4, "green": 5, "blue": 6}]})"),
              ElementsAre(Color(1, 2, 3), Color(4, 5, 6), Color(1, 2, 3), Color(1, 2, 3)));
}

TEST(MetaConvert, AColourWithoutALevelIsThatOfTheFirst) {
  EXPECT_THAT(colors_of_chain({"a", "b", "c"}, R"({"label-color": [{"red": 9}]})"),
              ElementsAre(Color(9, 0, 0), kGreen, kRed));
}

TEST(MetaConvert, ClassesChooseWhatIsShownAndItsColour) {
  const std::string json = R"({"label-color": [{"level": 1, "red": 1}],
      "classes": [{"name": "b", "red": 255, "masking": 0}, {"name": "c", "blue": "255"}]})";
  EXPECT_THAT(colors_of_chain({"a", "b", "c"}, json), ElementsAre(kRed, kBlue));
  const auto lines = convert(classification(), R"({"classes": [{"name": "cat", "green": 255}]})");
  EXPECT_THAT(texts(*lines), ElementsAre("cat"));
  EXPECT_EQ(Color(lines->text_params[0].text_font.font_color), kGreen);
}

TEST(MetaConvert, TheLabelFilterNamesPartsAndLabels) {
  const Node root = root_of({box("dog"), box("cat")});
  const auto shown = [&](const std::string& words) {
    return texts(*convert(root, "{\"label-filter\": " + words + "}"));
  };
  EXPECT_THAT(shown(R"(["class", "probability"])"), ElementsAre("dog 0.88", "cat 0.88"));
  EXPECT_THAT(shown(R"(["probability"])"), ElementsAre("0.88", "0.88"));
  EXPECT_THAT(shown(R"(["cat", "bird"])"), ElementsAre("cat"));
  EXPECT_THAT(shown(R"(["probability", "dog"])"), ElementsAre("0.88"));
  EXPECT_THAT(convert(root, R"({"label-filter": ["cat"]})")->rect_params, SizeIs(1));
  const Node tracked = box("dog");
  static_cast<DetectionResData*>(tracked->get_infer_result())->obj_track_label = "7";
  EXPECT_THAT(texts(*convert(tracked, R"({"label-filter": ["class", "tracker-id"]})")),
              ElementsAre("dog 7"));
}

TEST(MetaConvert, ANegativeThicknessFillsBoxes) {
  const auto info = convert(root_of({box("dog")}), R"({"thickness": "-1"})");
  EXPECT_TRUE(info->rect_params.at(0).apply_bg_color);
  EXPECT_EQ(Color(info->rect_params.at(0).bg_color), kBlue);
  EXPECT_EQ(info->rect_params.at(0).bg_color.alpha, 255);
  EXPECT_FALSE(convert(root_of({box("dog")}))->rect_params.at(0).apply_bg_color);
}

TEST(MetaConvert, MasksCoverBoxesWithBlack) {
  const Node outer = box("car");
  outer->add_child(box("plate"));
  const Node root = root_of({outer, box("bus")});
  const auto covered = [&](const std::string& json) {
    std::vector<bool> masked;
    const auto shapes = convert(root, json);
    for (const OverlayRectParams& rect : shapes->rect_params)
      masked.push_back(rect.apply_bg_color && Color(rect.bg_color) == Color(0, 0, 0));
    return masked;
  };
  EXPECT_THAT(covered(""), ElementsAre(false, false, false));
  EXPECT_THAT(covered(R"({"mask-level": 2})"), ElementsAre(false, true, false));
  EXPECT_THAT(covered(R"({"mask-level": 2, "classes": [{"name": "car"},
                  {"name": "plate"}, {"name": "bus", "masking": 1}]})"),
              ElementsAre(false, false, true));
}

TEST(MetaConvert, MapsHaveTheColoursOfTheClasses) {
  const std::string json = R"({"mask-level": 1, "classes": [{"name": "background"},
      {"name": "road", "green": 255}, {"name": "sky", "blue": 255}]})";
  std::vector<Color> colors;
  const auto shapes = convert(root_of({map(3, 1, {0, 1, 2})}), json);
  for (const OverlayRectParams& rect : shapes->rect_params) colors.emplace_back(rect.bg_color);
  EXPECT_THAT(colors, ::testing::UnorderedElementsAre(kGreen, kBlue));
  EXPECT_THAT(convert(root_of({map(1, 1, {1})}), R"({"mask-level": 2})")->rect_params, IsEmpty());
}

TEST(MetaConvert, UnknownKeysAreNamedInTheLog) {
  const millrace::test::LogCapture log;
  convert(root_of({}), R"({"radius": 3, "colour": 1})");
  EXPECT_EQ(log.count("\"colour\" is unknown"), 1U);
  EXPECT_EQ(log.count("radius"), 0U);
}

TEST(MetaConvert, MapsAreRectanglesOfEqualClassOnTheFrame) {
  const Node segmentation = map(4, 2, {0, 1, 1, 2, 0, 1, 1, 0});
  InferResScaleInfo scale;
  scale.input_frame_width = 80;
  scale.input_frame_height = 40;
  scale.model_input_width = 8;
  scale.model_input_height = 4;
  segmentation->transform(scale);
  const auto info = convert(root_of({segmentation}));
  ASSERT_THAT(info->rect_params, SizeIs(2));
  for (const OverlayRectParams& rect : info->rect_params) {
    EXPECT_TRUE(rect.apply_bg_color);
    EXPECT_EQ(rect.points.y, 0);
    const bool is_first_class = rect.points.x == 20;
    EXPECT_EQ(rect.points.x, is_first_class ? 20 : 60);
    EXPECT_EQ(rect.width, is_first_class ? 40U : 20U);
    EXPECT_EQ(rect.height, is_first_class ? 40U : 20U);
  }
}

TEST(MetaConvert, ResultsThatContradictThemselvesDoNoHarm) {
  EXPECT_THAT(convert(map(4, 4, {1, 2}))->rect_params, IsEmpty());
  EXPECT_THAT(convert(map(0, 0, {}))->rect_params, IsEmpty());
  ClassificationResData data;
  data.index = {1, 2};
  EXPECT_THAT(texts(*convert(result(InferResultType::CLASSIFICATION, data))), SizeIs(2));
  EXPECT_THAT(convert(root_of({}))->text_params, IsEmpty());
}

TEST(MetaConvert, WrongConfigurationsAreRefused) {
  const auto refusal = [](const std::string& json) {
    return test::reason([&] { convert(root_of({}), json); });
  };
  EXPECT_EQ(refusal(R"({"radius": "3", "mask-level": 1, "classes": ""})"), "taken");
  EXPECT_THAT(refusal(R"({"thickness": 0})"), HasSubstr("filled"));
  EXPECT_THAT(refusal(R"({"classes": [{"name": "x", "green": -1}]})"), HasSubstr("green"));
  EXPECT_THAT(refusal("["), HasSubstr("JSON"));
  EXPECT_THAT(refusal(R"({"font": 8})"), HasSubstr("\"font\""));
  EXPECT_THAT(refusal(R"({"font-size": 0})"), HasSubstr("font-size"));
  EXPECT_THAT(refusal(R"({"thickness": "thick"})"), HasSubstr("thickness"));
  EXPECT_THAT(refusal(R"({"label-color": [{"red": 256}]})"), HasSubstr("red"));
  EXPECT_THAT(test::reason([] { convert(nullptr); }), HasSubstr("null"));
}

}  // namespace
}  // namespace vart
