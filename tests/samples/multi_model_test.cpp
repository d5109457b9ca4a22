// samples/vart_multi_tenancy and samples/vart_multimodel_seq, which share command line,
// configuration and files, as their users see them.
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kFile = "probs_4x2x4x1x8_float32.bin";

class MultiModel : public SampleTest, public testing::WithParamInterface<const char*> {
 protected:
  static bool at_once() { return GetParam() == std::string(MILLRACE_MULTI_TENANCY); }

  ProgramResult run(const std::vector<std::string>& arguments) const {
    return SampleTest::run(GetParam(), arguments);
  }
  ProgramResult run_config(const Json& json, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"--config", config(json)});
    return run(flags);
  }
  // One entry of the configuration.
  Json entry(size_t rows, const TinyModelOptions& options = {}) const {
    return {{"model_cache_path", model(options)}, {"ifm_node_file_map", {{"data", ifm(rows)}}}};
  }
};

TEST_P(MultiModel, WritesTheOutputsOfEveryModel) {
  Json second = entry(1);
  second["ofm_dir"] = "elsewhere";
  second["start_column"] = "4";
  second["aie_columns_sharing"] = "true";
  const ProgramResult result = run_config(Json::array({entry(1), second}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(files(),
              UnorderedElementsAre("ofm_model_1/" + kFile, "elsewhere/ofm_model_2/" + kFile));
  EXPECT_EQ(size_of("ofm_model_1/" + kFile), kOutputBytes);
  EXPECT_THAT(result.err, MatchesRegex("(.INFO. vart: [^\n]* created from [^\n]*\n){2}"));
  const size_t completed = result.out.find("[INFO] All models completed successfully.\n");
  ASSERT_NE(completed, std::string::npos);
  const std::string summary = result.out.substr(completed);
  EXPECT_THAT(summary, HasSubstr("---- Execution Summary ----\n"));
  EXPECT_THAT(summary, HasSubstr(at_once() ? "Total (ms)" : "Avg (ms)"));
  EXPECT_THAT(summary, HasSubstr("elsewhere/ofm_model_2\n"));
}

TEST_P(MultiModel, FewerRowsThanTheBatchAreAPartialBatch) {
  const ProgramResult result =
      run_config(Json::array({entry(3, {.batch_size = 4})}), {"--runs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("\n[WARN] "));
  EXPECT_THAT(result.err, HasSubstr("holds 3 of 4 rows"));
  EXPECT_EQ(size_of("ofm_model_1/" + kFile), 3 * kOutputBytes);
}

TEST_P(MultiModel, RowsBeyondTheBatchAreDropped) {
  const ProgramResult result = run_config(Json::array({entry(5, {.batch_size = 2})}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("\n[WARN] "));
  EXPECT_THAT(result.err, HasSubstr("3 of 5 rows are dropped"));
  EXPECT_EQ(size_of("ofm_model_1/" + kFile), 2 * kOutputBytes);
}

TEST_P(MultiModel, DryRunReadsAndWritesNothing) {
  Json json = Json::array({entry(1)});
  json[0].erase("ifm_node_file_map");
  const ProgramResult result = run_config(json, {"-d"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("(skipped "));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_P(MultiModel, BenchmarkAddsATable) {
  const ProgramResult result = run_config(Json::array({entry(1)}), {"-b", "-r", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("---- Performance ----\n"));
  EXPECT_THAT(result.out, ContainsRegex("\n  1 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\n"));
  EXPECT_THAT(files(), UnorderedElementsAre("ofm_model_1/" + kFile));
}

TEST_P(MultiModel, LogLevelZeroKeepsWarningsAndInformationBack) {
  const ProgramResult result = run_config(Json::array({entry(3, {.batch_size = 4})}), {"-l", "0"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, Not(HasSubstr("[INFO]")));
  EXPECT_THAT(result.out, HasSubstr("Execution Summary"));
}

TEST_P(MultiModel, NamesThatAreNotTheModelsAreShownBesideThem) {
  Json json = Json::array({entry(1)});
  json[0]["ifm_node_file_map"] = {{"Data", ifm(1)}};
  const ProgramResult result = run_config(json);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("ifm_node_file_map"));
  EXPECT_THAT(result.out, ContainsRegex("\n  data +4x1x4x1x4 +float32 +256\n"));
  EXPECT_THAT(result.out, ContainsRegex("\n  Data +.*ifm.bin\n"));
  EXPECT_THAT(files(), UnorderedElementsAre("ifm_node_data.txt"));
  const std::ifstream file(work_ + "/ifm_node_data.txt");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("4x1x4x1x4"));
}

TEST_P(MultiModel, ExclusiveColumnsAreNotGivenTwice) {
  Json shared = entry(1);
  Json exclusive = entry(1);
  exclusive["aie_columns_sharing"] = false;
  expect_failure(run_config(Json::array({shared, exclusive})), "column 0");
  exclusive["start_column"] = 8;
  EXPECT_EQ(run_config(Json::array({shared, exclusive})).exit_code, 0);
}

TEST_P(MultiModel, HelpIsNoFailure) {
  const ProgramResult result = run({"-h"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* option : {"--config", "--runs", "--benchmark", "--dry-run", "--log-level"})
    EXPECT_THAT(result.out, HasSubstr(option));
}

TEST_P(MultiModel, CommandLinesThatMakeNoSenseAreRefused) {
  const std::string path = config(Json::array({entry(1)}));
  expect_failure(run({}), "--config");
  expect_failure(run({"-c", path, "--nosuch"}), "nosuch");
  expect_failure(run({"-c", path, "stray"}), "positional");
  expect_failure(run({"-c", path, "-r", "0"}), "--runs");
  expect_failure(run({"-c", path, "-l", "3"}), "--log-level");
}

TEST_P(MultiModel, WrongConfigurationsAreRefusedByName) {
  const auto with = [&](const std::string& key, const Json& value) {
    Json json = Json::array({entry(1)});
    json[0][key] = value;
    return run_config(json);
  };
  expect_failure(run({"-c", "none.json"}), "none.json");
  expect_failure(run({"-c", write("broken.json", "[\n{]")}), "broken.json(2)");
  expect_failure(run_config(Json::array()), "no model");
  expect_failure(run_config(Json::object({{"model_cache_path", "a.rai"}})), "no array");
  expect_failure(run_config(Json::array({{{"start_column", 0}}})), "model_cache_path");
  expect_failure(with("model_cache_path", "none.rai"), "none.rai");
  expect_failure(with("start_column", 33), "33");
  expect_failure(with("aie_columns_sharing", "perhaps"), "perhaps");
  expect_failure(with("ifm_node_file_map", {{"data", "none.bin"}}), "none.bin");
  expect_failure(with("ifm_node_file_map", {{"data", write("odd.bin", std::string(263, '\5'))}}),
                 "263 bytes");
  expect_failure(with("ifm_node_file_map", {{"data", write("empty.bin", "")}}), "0 bytes");
}

INSTANTIATE_TEST_SUITE_P(Programs, MultiModel,
                         testing::Values(MILLRACE_MULTI_TENANCY, MILLRACE_MULTIMODEL_SEQ),
                         [](const auto& info) {
                           return std::filesystem::path(info.param).filename().string();
                         });

}  // namespace
}  // namespace millrace::test
