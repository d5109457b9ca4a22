#include "vartx/json_config.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace millrace::vartx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(JsonConfig, EmptyTextIsAnEmptyObject) {
  for (const char* text : {"", " \n", "{}"}) {
    const JsonConfig config = JsonConfig::parse(text);
    EXPECT_FALSE(config.has("mean-r"));
    EXPECT_EQ(config.number("mean-r", 2.5f), 2.5f);
    EXPECT_EQ(config.text("type", "TOPK"), "TOPK");
    EXPECT_THAT(config.objects("label-color"), IsEmpty());
  }
}

TEST(JsonConfig, TakesValuesInEitherForm) {
  for (const char* text : {R"({"scale": 0.5, "topk": 5, "print": true, "name": "x"})",
                           R"({"scale": " 0.5", "topk": "5", "print": "true", "name": "x"})"}) {
    const JsonConfig config = JsonConfig::parse(text);
    EXPECT_EQ(config.number("scale", 0), 0.5f);
    EXPECT_EQ(config.integer("topk", 0), 5);
    EXPECT_TRUE(config.boolean("print", false));
    EXPECT_EQ(config.text("name", ""), "x");
  }
}

TEST(JsonConfig, TakesSwitchesAsNumbersAndWholeNumbersWithAPoint) {
  const JsonConfig config = JsonConfig::parse(R"({"on": 1, "off": "0", "n": 3.0, "m": "4.0"})");
  EXPECT_TRUE(config.boolean("on", false));
  EXPECT_FALSE(config.boolean("off", true));
  EXPECT_EQ(config.integer("n", 0), 3);
  EXPECT_EQ(config.integer("m", 0), 4);
}

TEST(JsonConfig, NullIsMissing) {
  const JsonConfig config = JsonConfig::parse(R"({"a": null, "b": "null"})");
  EXPECT_FALSE(config.has("a"));
  EXPECT_EQ(config.integer("b", 7), 7);
}

TEST(JsonConfig, BlankTextIsMissing) {
  const JsonConfig config = JsonConfig::parse(R"({"n": "", "b": " ", "t": "", "i": "\t"})");
  EXPECT_FALSE(config.has("n"));
  EXPECT_EQ(config.number("n", 2), 2);
  EXPECT_TRUE(config.boolean("b", true));
  EXPECT_EQ(config.integer("i", 3), 3);
  EXPECT_EQ(config.text("t", "TOPK"), "TOPK");
}

TEST(JsonConfig, NamesStandForValuesInEitherCase) {
  const JsonConfig config = JsonConfig::parse(R"({"a": "Low", "b": "medium", "c": ""})");
  const auto level = [&](const char* key) {
    return config.named(key, 0, {{"LOW", 1}, {"HIGH", 2}});
  };
  EXPECT_EQ(level("a"), 1);
  EXPECT_EQ(level("c"), 0);
  EXPECT_THROW(level("b"), std::invalid_argument);
}

TEST(JsonConfig, ListsOfAnyDepthAreFlattened) {
  const JsonConfig config = JsonConfig::parse(
      R"({"deep": [[["1", 2], [3, 4]], [[5, 6]], ""], "flat": [1, 2], "one": 7, "none": ""})");
  EXPECT_THAT(config.flattened_numbers("deep"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(config.flattened_numbers("flat"), ElementsAre(1, 2));
  EXPECT_THAT(config.flattened_numbers("one"), ElementsAre(7));
  EXPECT_THAT(config.flattened_numbers("none"), IsEmpty());
  EXPECT_THAT(config.flattened_numbers("missing"), IsEmpty());
}

TEST(JsonConfig, ListsMayBeOfStringsAndEmpty) {
  const JsonConfig config = JsonConfig::parse(
      R"({"f": ["0.25", 1], "i": ["1", 2], "t": ["NHC", 4], "one": "8", "none": "", "e": []})");
  EXPECT_THAT(config.numbers("f"), ElementsAre(0.25f, 1.0f));
  EXPECT_THAT(config.integers("i"), ElementsAre(1, 2));
  EXPECT_THAT(config.texts("t"), ElementsAre("NHC", "4"));
  EXPECT_THAT(config.integers("one"), ElementsAre(8));
  EXPECT_THAT(config.numbers("none"), IsEmpty());
  EXPECT_THAT(config.numbers("e"), IsEmpty());
  EXPECT_THAT(config.numbers("missing"), IsEmpty());
}

TEST(JsonConfig, ListsOfListsAreRows) {
  const JsonConfig config =
      JsonConfig::parse(R"({"grid": [["80", "80"], [40, 40]], "flat": [1, 2], "none": ""})");
  EXPECT_THAT(config.number_rows("grid"), ElementsAre(ElementsAre(80, 80), ElementsAre(40, 40)));
  EXPECT_THAT(config.number_rows("flat"), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(config.number_rows("none"), IsEmpty());
}

TEST(JsonConfig, HasObjectsAndListsOfThem) {
  const JsonConfig config = JsonConfig::parse(
      R"({"model-params": {"depth": {"k": 1}}, "none": "", "colors": [{"red": "255"}, {}]})");
  EXPECT_EQ(config.object("model-params").object("depth").integer("k", 0), 1);
  EXPECT_FALSE(config.object("none").has("k"));
  EXPECT_FALSE(config.object("missing").has("k"));
  const std::vector<JsonConfig> colors = config.objects("colors");
  ASSERT_EQ(colors.size(), 2u);
  EXPECT_EQ(colors[0].integer("red", 0), 255);
}

std::string reason(const std::string& text, void (*read)(const JsonConfig&)) {
  try {
    read(JsonConfig::parse(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "taken";
}

TEST(JsonConfig, WrongTypesAreRefusedWithKeyAndValue) {
  EXPECT_EQ(reason(R"({"mean-r": "abc"})", [](const JsonConfig& c) { c.number("mean-r", 0); }),
            R"("mean-r": "abc" is not a number)");
  EXPECT_EQ(reason(R"({"topk": 1.5})", [](const JsonConfig& c) { c.integer("topk", 0); }),
            R"("topk": 1.5 is not an integer)");
  EXPECT_EQ(reason(R"({"on": 2})", [](const JsonConfig& c) { c.boolean("on", false); }),
            R"("on": 2 is not true or false)");
  EXPECT_EQ(reason(R"({"type": []})", [](const JsonConfig& c) { c.text("type", ""); }),
            R"("type": [] is not a text)");
  EXPECT_EQ(reason(R"({"list": [1, {}]})", [](const JsonConfig& c) { c.numbers("list"); }),
            R"("list[1]": {} is not a number)");
  EXPECT_EQ(
      reason(R"({"a": {"b": "x"}})", [](const JsonConfig& c) { c.object("a").integer("b", 0); }),
      R"("a.b": "x" is not an integer)");
  EXPECT_EQ(reason(R"({"a": 3})", [](const JsonConfig& c) { c.object("a"); }),
            R"("a": 3 is not an object)");
}

TEST(JsonConfig, NumbersOutOfRangeAreRefused) {
  EXPECT_THAT(reason(R"({"n": 1e300})", [](const JsonConfig& c) { c.number("n", 0); }),
              HasSubstr("is not a number"));
  EXPECT_THAT(reason(R"({"n": "nan"})", [](const JsonConfig& c) { c.number("n", 0); }),
              HasSubstr("is not a number"));
  EXPECT_THAT(
      reason(R"({"n": 18446744073709551615})", [](const JsonConfig& c) { c.integer("n", 0); }),
      HasSubstr("is not an integer"));
}

TEST(JsonConfig, TextThatIsNoObjectIsRefused) {
  EXPECT_THROW(JsonConfig::parse("[1]"), std::invalid_argument);
  EXPECT_THROW(JsonConfig::parse("{\"a\": "), std::invalid_argument);
  EXPECT_THROW(JsonConfig::parse("\xff"), std::invalid_argument);
  EXPECT_THROW(JsonConfig::parse("{\"a\": 1e999}"), std::invalid_argument);
}

TEST(JsonConfig, TextNestedDeeplyIsRefused) {
  const std::string deep(200'000, '[');
  EXPECT_THROW(JsonConfig::parse("{\"topk\": " + deep), std::invalid_argument);
  EXPECT_THROW(JsonConfig::parse("{\"topk\": " + deep + std::string(deep.size(), ']') + "}"),
               std::invalid_argument);
}

}  // namespace
}  // namespace millrace::vartx
