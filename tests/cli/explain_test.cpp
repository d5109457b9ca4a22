#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class ExplainTest : public CliTest {
 protected:
  Json explanation(const std::string& model, std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"explain", model, "--json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult result = millrace(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? Json::parse(result.out) : Json();
  }

  // All steps of all partitions, in order.
  static Json steps_of(const Json& explanation) {
    Json steps = Json::array();
    for (const Json& partition : explanation["partitions"])
      for (const Json& step : partition["steps"]) steps.push_back(step);
    return steps;
  }
};

TEST_F(ExplainTest, EveryOperatorHasItsStepsWithKernelAndLayouts) {
  const Json glyphs = explanation(kGlyphsOnnx);
  ASSERT_EQ(glyphs["partitions"].size(), 1u);
  EXPECT_EQ(glyphs["partitions"][0]["kind"], "NPU");
  const Json steps = steps_of(glyphs);
  size_t convolutions = 0;
  for (const Json& node : glyphs["partitions"][0]["operators"]) {
    if (node["operator"] != "Conv") continue;
    ++convolutions;
    ASSERT_FALSE(node["steps"].empty());
    const Json& step = steps[node["steps"][0].get<size_t>()];
    EXPECT_EQ(step["node"], node["node"]);
    EXPECT_NE(step["kernel"], "");
    EXPECT_EQ(step["precision"], "fp32");
    EXPECT_THAT(step["reads"].get<std::string>(), HasSubstr("f32:"));
    EXPECT_THAT(step["writes"].get<std::string>(), HasSubstr("f32:"));
    EXPECT_THAT(node["attributes"].get<std::string>(), HasSubstr("strides="));
  }
  EXPECT_GT(convolutions, 0u);
}

TEST_F(ExplainTest, WhatThePassesMergedIsNamedAsTheModelNamesIt) {
  const Json glyphs = explanation(kGlyphsOnnx);
  bool merged = false;
  for (const Json& node : glyphs["partitions"][0]["operators"]) {
    std::string types;
    for (const Json& origin : node.value("origins", Json::array()))
      types += origin["operator"].get<std::string>() + " ";
    merged = merged ||
             (types.find("Conv") != std::string::npos && types.find("Relu") != std::string::npos);
  }
  EXPECT_TRUE(merged) << glyphs.dump(2);
}

TEST_F(ExplainTest, AReorderSaysWhoDisagrees) {
  const Json steps =
      steps_of(explanation(kGlyphsOnnx, {"--cpu-ops", "GlobalPool", "--precision", "bf16"}));
  size_t reorders = 0;
  for (const Json& step : steps) {
    if (step["operation"] != "Reorder") continue;
    ++reorders;
    EXPECT_NE(step.value("reason", ""), "") << step.dump();
  }
  EXPECT_GT(reorders, 0u) << "a CPU partition reads plain memory";
}

TEST_F(ExplainTest, OperatorsOfABf16ProgramMayComputeInFp32) {
  const Json glyphs = explanation(kGlyphsOnnx, {"--precision", "bf16", "--full-precision", "Conv"});
  if (glyphs.contains("note")) GTEST_SKIP() << glyphs["note"];
  size_t convolutions = 0;
  for (const Json& step : steps_of(glyphs)) {
    if (step.value("node", "").empty()) continue;
    const bool is_conv = step["operation"] == "Conv";
    convolutions += is_conv ? 1 : 0;
    // A maximum pool moves what the convolution before it made.
    const bool is_exact = is_conv || step["node"] == "maxpool1";
    EXPECT_EQ(step["precision"], is_exact ? "fp32" : "bf16") << step.dump();
  }
  EXPECT_GT(convolutions, 0u);
}

TEST_F(ExplainTest, StepsOfAQuantisedModelReadIntegers) {
  const std::string images = kGlyphsFolder + "calibration_images.npy";
  const Json glyphs =
      explanation(compiled("int8.rai", {"--precision", "int8", "--calibrate", images}));
  size_t integers = 0;
  for (const Json& step : steps_of(glyphs)) {
    if (step["operation"] == "Quantise") {
      EXPECT_EQ(step["precision"], "fp32") << step.dump();
    }
    integers += step["precision"] == "int" ? 1 : 0;
  }
  EXPECT_GT(integers, 0u);
}

TEST_F(ExplainTest, TheCpuHasAReason) {
  const Json forced = explanation(kGlyphsOnnx, {"--cpu-ops", "GlobalPool"});
  ASSERT_EQ(forced["partitions"].size(), 3u);
  const Json& node = forced["partitions"][1]["operators"][0];
  EXPECT_EQ(node["why_cpu"], "--cpu-ops names GlobalPool");
  EXPECT_EQ(forced["partitions"][1]["steps"][0]["precision"], "fp32");
  const Json archive = explanation(compiled("glyphs.rai", {"--cpu-ops", "GlobalPool"}));
  EXPECT_THAT(archive["partitions"][1]["operators"][0]["why_cpu"].get<std::string>(),
              HasSubstr("the compiler put it there"));
}

TEST_F(ExplainTest, AProfileGivesSharesOfTheTime) {
  const Json found = explanation(kGlyphsOnnx, {"--profile", "--runs", "3"});
  double sum = 0;
  for (const Json& step : steps_of(found)) {
    EXPECT_GE(step["share"], 0.0);
    sum += step["share"].get<double>();
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_LE(sum, 1.0 + 1e-4);
  double of_operations = 0, before = 1;
  for (const Json& operation : found["by_operation"]) {
    EXPECT_LE(operation["share"], before) << "the longest first";
    before = operation["share"].get<double>();
    of_operations += before;
  }
  EXPECT_NEAR(of_operations, sum, 1e-4);
}

// Both compilations name their nodes as the ONNX file does.
TEST_F(ExplainTest, TwoCompilationsAreComparedNodeByNode) {
  const std::string exact = compiled("fp32.rai"),
                    half = compiled("bf16.rai", {"--precision", "bf16"});
  const Json found = explanation(exact, {"--profile", "--runs", "2", "--against", half});
  EXPECT_EQ(found["against"]["precision"], "bf16");
  size_t in_both = 0, of_none = 0;
  for (const Json& node : found["by_node"]) {
    EXPECT_EQ(of_none, 0u) << "the steps of no node come last";
    of_none += node["node"] == "" ? 1 : 0;
    if (node["operator"] == "Conv" && node["mean_us"].is_number() && node["other_us"].is_number())
      ++in_both;
  }
  EXPECT_GT(in_both, 0u) << found["by_node"].dump(2);
  const ProgramResult text = millrace({"explain", exact, "--profile", "--runs", "1", "--against",
                                       kGlyphsOnnx, "--precision", "bf16"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* part : {"A  glyphs  fp32  on ", "B  glyphs  bf16  on ", "B takes", " (Conv)\n"})
    EXPECT_THAT(text.out, HasSubstr(part));
}

TEST_F(ExplainTest, ThereIsNothingToCompareWithoutAProfile) {
  EXPECT_EQ(millrace({"explain", kGlyphsOnnx, "--against", kGlyphsOnnx}).exit_code, 2);
  expect_failure(millrace({"explain", kGlyphsOnnx, "--profile", "--against", "none.rai"}),
                 "none.rai");
}

TEST_F(ExplainTest, TheTextNamesKernelsAndPartitions) {
  const ProgramResult result = millrace({"explain", kGlyphsOnnx, "--cpu-ops", "GlobalPool"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"partition 0: NPU", "partition 1: CPU", "Conv", "f32:", "--cpu-ops names GlobalPool"})
    EXPECT_THAT(result.out, HasSubstr(part));
}

TEST_F(ExplainTest, RunsWithoutAProfileMakeNoSense) {
  EXPECT_EQ(millrace({"explain", kGlyphsOnnx, "--runs", "3"}).exit_code, 2);
  expect_failure(millrace({"explain", "none.rai"}), "none.rai");
}

}  // namespace
}  // namespace millrace::test
