// ml_vart --get-model-info: both views of every tensor, for every kind of model.
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MlVartInfo : public SampleTest {
 protected:
  // The JSON that the program writes about a model.
  Json info(const TinyModelOptions& options) const {
    const ProgramResult result =
        SampleTest::run(MILLRACE_ML_VART, {"--get-model-info", model(options)});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("--- Model info ---\n"));
    EXPECT_THAT(files(), ElementsAre("tiny_info.json"));
    return Json::parse(std::ifstream(work_ + "/tiny_info.json"));
  }
};

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

bool holds_only_text(const Json& json) {
  if (!json.is_structured()) return json.is_string();
  return std::ranges::all_of(json, holds_only_text);
}

TEST_F(MlVartInfo, DescribesTheCpuViewAndThenTheHwView) {
  const Json json = info({.batch_size = 4, .precision = graph::Precision::kBf16});
  EXPECT_EQ(json["batch_size"], "4");
  const Json& input = json["inputs"][0];
  EXPECT_EQ(input["name"], "data");
  EXPECT_THAT(keys(input), ElementsAre("name", "cpu", "hw"));
  EXPECT_EQ(input["cpu"]["data_type"], "fp32");
  EXPECT_EQ(input["cpu"]["memory_layout"], "NCHW");
  EXPECT_EQ(input["cpu"]["shape"], Json({"1", "3", "4", "4"}));
  EXPECT_EQ(input["hw"]["data_type"], "bf16");
  EXPECT_EQ(input["hw"]["memory_layout"], "HCWNC4");
  EXPECT_EQ(input["hw"]["strides"], Json({"16", "16", "4", "4", "1"}));
  EXPECT_EQ(input["hw"]["size_in_bytes"], "128");
  EXPECT_EQ(json["outputs"][0]["name"], "probs");
}

TEST_F(MlVartInfo, SaysNothingOfAViewThatIsNotThere) {
  const Json json = info({.hw_views = false});
  EXPECT_THAT(keys(json["outputs"][0]), ElementsAre("name", "cpu"));
}

TEST_F(MlVartInfo, WritesStringsOnly) {
  EXPECT_TRUE(holds_only_text(info({})));
}

TEST_F(MlVartInfo, OrderAndQuantisationOnlyWhereTheyMeanSomething) {
  const Json json = info({});
  for (const char* view : {"cpu", "hw"}) {
    EXPECT_FALSE(json["inputs"][0][view].contains("memory_layout_order")) << "no GENERIC layout";
    EXPECT_FALSE(json["inputs"][0][view].contains("quantization")) << "no integers";
  }
}

TEST_F(MlVartInfo, AMissingModelIsAFailure) {
  expect_failure(SampleTest::run(MILLRACE_ML_VART, {"--get-model-info", "none.rai"}), "none.rai");
}

}  // namespace
}  // namespace millrace::test
