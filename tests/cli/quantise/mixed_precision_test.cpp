// `millrace compile --precision auto`, and operators that compute in FP32 by name.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.h"
#include "tests/support/page_text.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class MixedPrecisionTest : public CliTest {
 protected:
  ProgramResult compile(std::vector<std::string> flags) const {
    std::vector<std::string> arguments = {"compile", kGlyphsOnnx, "-o", file("mixed.rai")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return millrace(arguments);
  }

  // On some of the network's own pictures.
  ProgramResult compile_auto(std::vector<std::string> flags) const {
    flags.insert(flags.begin(),
                 {"--precision", "auto", "--calibrate", kGlyphsFolder + "calibration_images.npy",
                  "--scale", "0.0039215686", "--calibrate-samples", "4"});
    return compile(std::move(flags));
  }

  Json inspected() const {
    const ProgramResult result = millrace({"inspect", file("mixed.rai"), "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? Json::parse(result.out) : Json();
  }

  // Whether this processor has BF16.
  bool has_bf16() const {
    const ProgramResult result =
        millrace({"explain", compiled("bf16.rai", {"--precision", "bf16"})});
    return result.out.find("computed in FP32") == std::string::npos;
  }
};

TEST_F(MixedPrecisionTest, AutoSaysWhatItNeeds) {
  expect_wrong_command_line(
      compile({"--precision", "auto", "--accuracy-target", "1%"}),
      "--precision auto needs typical inputs to measure the model with: give files or a "
      "folder with --calibrate");
  expect_wrong_command_line(
      millrace({"explain", kGlyphsOnnx, "--precision", "auto"}),
      "auto needs calibration: millrace compile --precision auto --calibrate DATA");
  expect_wrong_command_line(compile({"--precision", "bf16", "--accuracy-target", "1%"}),
                            "are for --precision int8 and auto");
  expect_wrong_command_line(compile_auto({"--quantise-outputs"}), "auto quantises nothing");
  expect_wrong_command_line(compile_auto({"--accuracy-target", "200%"}),
                            "not a share between 0 and 1");
}

TEST_F(MixedPrecisionTest, WithoutBf16ThereIsNothingToMeasure) {
  ::setenv("MILLRACE_MAX_ISA", "avx512", 1);
  const ProgramResult result = compile_auto({});
  ::unsetenv("MILLRACE_MAX_ISA");
  expect_failure(result, "there is no accuracy to measure");
}

TEST_F(MixedPrecisionTest, AModelThatLosesLittleIsAllBf16) {
  if (!has_bf16()) GTEST_SKIP() << "this processor has no BF16";
  const ProgramResult result = compile_auto({});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("bf16, measured on 4 samples"), Not(HasSubstr("kept"))));
  const Json model = inspected();
  EXPECT_EQ(model["precision"], "bf16");
  EXPECT_TRUE(model["other_precisions"].empty());
}

TEST_F(MixedPrecisionTest, ATightTargetKeepsLayersInFp32AndSaysWhich) {
  if (!has_bf16()) GTEST_SKIP() << "this processor has no BF16";
  const ProgramResult result =
      compile_auto({"--accuracy-target", "0.00000001%", "--report", file("report.html")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("out of reach")));
  const Json others = inspected()["other_precisions"];
  ASSERT_FALSE(others.empty());
  const std::string page = content(file("report.html"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("kept"), HasSubstr("ms without that")));
  EXPECT_THAT(page, HasSubstr("kept in a higher precision"));
  for (const Json& node : others) {
    EXPECT_EQ(node["precision"], "fp32");
    if (node["operator"] != "Conv") continue;  // a node that only moves elements is no layer
    EXPECT_THAT(page, HasSubstr(node["node"].get<std::string>() + " (fp32)"));
  }
}

TEST_F(MixedPrecisionTest, NamedOperatorsComputeInFp32) {
  const ProgramResult result = compile({"--precision", "bf16", "--full-precision", "Conv"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json model = inspected();
  EXPECT_EQ(model["precision"], "bf16");
  ASSERT_FALSE(model["other_precisions"].empty());
  size_t convolutions = 0;
  for (const Json& node : model["other_precisions"]) {
    convolutions += node["operator"] == "Conv" ? 1 : 0;
    EXPECT_THAT(node["operator"].get<std::string>(), AnyOf("Conv", "Pool")) << "what moves numbers";
  }
  EXPECT_EQ(convolutions, model["operators"]["Conv"].get<size_t>());
  EXPECT_EQ(model["inputs"][0]["hw"]["type"], "FLOAT32") << "a Conv reads it";
  EXPECT_THAT(millrace({"inspect", file("mixed.rai")}).out,
              HasSubstr("operators in another precision"));
}

TEST_F(MixedPrecisionTest, ANameOfNothingIsRefused) {
  expect_failure(compile({"--precision", "bf16", "--full-precision", "Convv"}),
                 "'Convv' to compute in FP32");
}

}  // namespace
}  // namespace millrace::test
