// The option config_json: options from a file.
#include <gmock/gmock.h>

#include <fstream>
#include <stdexcept>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class ConfigTest : public RunnerTest {
 protected:
  std::string file(const std::string& text) {
    const std::string path = directory_.file("config.json");
    std::ofstream(path) << text;
    return path;
  }

  // The name a runner ends up with.
  std::string name_with(const std::string& text, Options options = {}) {
    options["config_json"] = file(text);
    return std::any_cast<std::string>(make_runner(options)->get_property("name"));
  }

  template <class Error>
  std::string refusal_of(const std::string& path) {
    try {
      make_runner({{"config_json", path}});
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(ConfigTest, HoldsOptionsWithEitherSpelling) {
  EXPECT_EQ(name_with(R"({"name": "filed"})"), "filed");
  const std::string path = file(R"({"input-tensor-type": "CPU", "output_tensor_type": "CPU"})");
  const test::TinyModelOptions cpu_only = {.hw_views = false};
  EXPECT_NE(make_runner({{"config_json", path}}, cpu_only), nullptr);
  EXPECT_THROW(make_runner({}, cpu_only), std::runtime_error);
}

TEST_F(ConfigTest, TheMapTakesPrecedenceOverTheFile) {
  EXPECT_EQ(name_with(R"({"name": "filed"})", {{"name", "given"}}), "given");
}

TEST_F(ConfigTest, TakesNumbersAndSwitchesAsStrings) {
  const test::LogCapture log;
  name_with(R"({"debug": "true", "max-concurrent-runs": "3", "aie-columns-sharing": "1",
                "skip-in-bo-sync": "false", "log-level": "ERROR"})");
  EXPECT_THAT(log.lines(), Contains(HasSubstr("at most 3 jobs")))
      << "debug takes precedence over log_level";
}

TEST_F(ConfigTest, LooksThroughObjectsForRunnerOptions) {
  const char* text = R"({
    "name": null,
    "inference-config": {"name": "no option", "model-file": "m.rai",
                         "runner-options": {"name": "nested", "more": {"name": "no"}}},
    "passes": [{"name": "a pass", "runner-options": {"name": "in a list"}}, 3, "x"]
  })";
  EXPECT_EQ(name_with(text), "nested");
  EXPECT_EQ(name_with(R"({"passes": [{"name": "a pass"}]})"), "VAIML-Runner");
}

TEST_F(ConfigTest, KeysOfTensorsKeepTheirNames) {
  const test::LogCapture log;
  name_with(R"({"input-tensor-type.in-1": "CPU"})");
  EXPECT_THAT(log.lines(), Contains(HasSubstr("input_tensor_type.in-1")));
}

TEST_F(ConfigTest, IgnoresUnknownKeysButSaysWhere) {
  const test::LogCapture log;
  name_with("{\n  \"optimize_level\": 2,\n  \"debug\": true\n}");
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("DEBUG"), HasSubstr("config.json:2"),
                                          HasSubstr("optimize_level"))));
}

TEST_F(ConfigTest, RefusesAFileThatIsNotThere) {
  const std::string path = directory_.file("none.json");
  EXPECT_THAT(refusal_of<std::runtime_error>(path),
              AllOf(HasSubstr("config_json"), HasSubstr(path), HasSubstr("No such file")));
  EXPECT_THAT(refusal_of<std::runtime_error>(directory_.path().string()), HasSubstr("config_json"));
}

TEST_F(ConfigTest, RefusesWhatIsNotJsonWithTheLine) {
  const auto refusal = [&](const char* text) { return refusal_of<std::runtime_error>(file(text)); };
  EXPECT_THAT(refusal("{\n  \"debug\": true\n  \"name\": \"x\"\n}"), HasSubstr("config.json:3:"));
  EXPECT_THAT(refusal("{\n  \"name\": \"x\n}\n"), HasSubstr("config.json:2:"));
  EXPECT_THAT(refusal("{\n  \"debug\": tru\n}"), HasSubstr("config.json:2:"));
  EXPECT_THAT(refusal("{\n\"start_column\": 1e999\n}"), HasSubstr("config.json:2:"));
  EXPECT_THAT(refusal("{\n\n"), HasSubstr("config.json:2:"));
  EXPECT_THAT(refusal(""), HasSubstr("config.json:1:"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("a JSON object"));
  EXPECT_THAT(refusal("7"), HasSubstr("a JSON object"));
  for (const char* value : {"3", "\"x\"", "[{}]"})
    EXPECT_THAT(refusal(("{\n\"runner-options\": " + std::string(value) + "}").c_str()),
                AllOf(HasSubstr("config.json:2: "), HasSubstr("takes an object")));
}

TEST_F(ConfigTest, CountsLinesOfAFileWithMany) {
  std::string text = "{\n";
  for (int line = 2; line < 20'000; ++line) text += "\"other\": 1,\n";
  EXPECT_THAT(refusal_of<std::runtime_error>(file(text + "\"name\": 5}")),
              HasSubstr("config.json:20000: "));
}

TEST_F(ConfigTest, RefusesBadValuesWithTheLine) {
  const auto refusal = [&](const char* text) { return refusal_of<std::runtime_error>(file(text)); };
  EXPECT_THAT(refusal("{\n\n  \"max-concurrent-runs\":\n 0}"),
              AllOf(HasSubstr("config.json:3: "), HasSubstr("from 1")));
  EXPECT_THAT(refusal("{\"debug\": \"perhaps\"}"),
              AllOf(HasSubstr("config.json:1: "), HasSubstr("bool")));
  EXPECT_THAT(refusal("{\"start-column\": \"4x\"}"), HasSubstr("integer"));
  EXPECT_THAT(refusal("{\"name\": 5}"), HasSubstr("string"));
  EXPECT_THAT(refusal("{\"log-level\": \"LOUD\"}"), HasSubstr("LOUD"));
  EXPECT_THAT(refusal_of<std::invalid_argument>(file("{\"input-tensor-type\": \"GPU\"}")),
              AllOf(HasSubstr("config.json:1: "), HasSubstr("GPU")));
}

}  // namespace
}  // namespace millrace::vartml
