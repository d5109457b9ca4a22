// samples/ml_vart as its users see it: output lines, files, exit codes.
#include "graph/archive/codec.h"
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr int kUnusable = 255;  // -1, as a shell sees it
const std::string kHwFile = "infer_out0-float32_4x2x4x1x8_probs.bin";

class MlVart : public SampleTest {
 protected:
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return SampleTest::run(MILLRACE_ML_VART, arguments);
  }
  ProgramResult run_config(const Json& json, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"--app-config", config(json)});
    return run(flags);
  }

  Json application(size_t rows, const TinyModelOptions& options = {}) const {
    return {{"inference-config", {{"model-file", model(options)}}},
            {"ifms-config", {{{"name", "data"}, {"file", ifm(rows)}}}}};
  }
};

TEST_F(MlVart, WritesAllFramesOfAnOutputToOneFile) {
  const ProgramResult result = run_config(application(3, {.batch_size = 2}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Wrote tensor 0 data for frames 0-1 to file: \"output/" +
                                    kHwFile + "\"\n"));
  EXPECT_THAT(result.out, HasSubstr("Wrote tensor 0 data for frames 2-2 to file: \"output/" +
                                    kHwFile + "\"\n"));
  EXPECT_THAT(result.out, HasSubstr("Run completed successfully.\n"));
  EXPECT_THAT(files(), UnorderedElementsAre("output/" + kHwFile));
  EXPECT_EQ(size_of("output/" + kHwFile), 3 * kOutputBytes);
}

TEST_F(MlVart, StartedAgainReplacesItsFiles) {
  const Json json = application(2);
  EXPECT_EQ(run_config(json).exit_code, 0);
  EXPECT_EQ(run_config(json).exit_code, 0);
  EXPECT_EQ(size_of("output/" + kHwFile), 2 * kOutputBytes);
}

TEST_F(MlVart, SeveralRunsHaveFilesOfTheirOwn) {
  Json json = application(1);
  json["ofms-dir"] = "out/deep";
  const ProgramResult result = run_config(json, {"--runs", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(files(),
              UnorderedElementsAre("out/deep/iter0_" + kHwFile, "out/deep/iter1_" + kHwFile));
}

TEST_F(MlVart, FramesLimitsWhatIsRun) {
  const ProgramResult result =
      run_config(application(5, {.batch_size = 2}), {"--frames", "3", "--log-level", "6"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(size_of("output/" + kHwFile), 3 * kOutputBytes);
  EXPECT_THAT(result.err, Not(HasSubstr("[WARN]")));
}

TEST_F(MlVart, MoreFramesThanTheFileHoldsIsAWarning) {
  const ProgramResult result = run_config(application(2), {"--frames", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[WARN] the input files hold 2 of 3 frames"));
  EXPECT_EQ(size_of("output/" + kHwFile), 2 * kOutputBytes);
}

TEST_F(MlVart, TakesRunnerOptionsWithQuotedValues) {
  Json json = application(0);
  json["inference-config"]["runner-options"] = {
      {"log-level", "ERROR"},       {"config-file", write("compiled.json", "{}")},
      {"start-column", "0"},        {"aie-columns-sharing", "true"},
      {"cma-index", "1"},           {"ai-analyzer-profiling", "false"},
      {"input-tensor-type", "CPU"}, {"output-tensor-type", "CPU"}};
  json["ifms-config"][0]["file"] = write("cpu.bin", std::string(3 * 4 * 4 * 4, '\1'));
  const ProgramResult result = run_config(json);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(size_of("output/infer_out0-float32_1x10x4x4_probs.bin"), 10u * 4 * 4 * 4);
}

TEST_F(MlVart, TakesRunnerOptionsWithPlainValues) {
  Json json = application(1, {.precision = graph::Precision::kBf16});
  json["inference-config"]["runner-options"] = {
      {"start-column", 0}, {"aie-columns-sharing", false}, {"output-tensor-type", "HW"}};
  json["ifms-config"][0]["file"] = write("hw.bin", std::string(kRowBytes / 2, '\1'));
  const ProgramResult result = run_config(json);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(size_of("output/infer_out0-bf16_4x2x4x1x8_probs.bin"), kOutputBytes / 2);
}

TEST_F(MlVart, FoldersInATensorsNameAreNotFolders) {
  graph::CompiledModel tiny = tiny_model();
  tiny.graph.values[tiny.outputs[0].value].name = "/head/probs";
  tiny.outputs[0].cpu.name = tiny.outputs[0].hw->name = "/head/probs";
  Json json = application(1);
  ASSERT_TRUE(model::write_archive(graph::encode(tiny), json["inference-config"]["model-file"],
                                   model::ArchiveForm::kFile)
                  .ok());
  const ProgramResult result = run_config(json);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(files(), UnorderedElementsAre("output/infer_out0-float32_4x2x4x1x8_head-probs.bin"));
}

TEST_F(MlVart, BenchmarkTimesAndWritesNothing) {
  const ProgramResult result = run_config(application(1), {"--benchmark", "--runs", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ContainsRegex("Average inference time over 3 runs: [0-9]+\\.[0-9][0-9] ms\n"));
  EXPECT_THAT(result.out, HasSubstr("Run completed successfully.\n"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(MlVart, DryRunReadsAndWritesNothing) {
  Json json = application(0);
  json.erase("ifms-config");
  const ProgramResult result = run_config(json, {"--dry-run"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Run completed successfully.\n"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(MlVart, UnusableCommandLinesEndWithMinusOne) {
  const std::string path = config(application(1));
  const std::vector<std::vector<std::string>> command_lines = {
      {"--help"},
      {},
      {"--app-config"},
      {"--app-config", path, "--nosuch"},
      {"--app-config", path, "stray"},
      {"--app-config", path, "--runs", "0"},
      {"--app-config", path, "--runs", "two"},
      {"--app-config", path, "--frames", "-1"},
      {"--app-config", path, "--log-level", "7"}};
  for (const auto& arguments : command_lines) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, kUnusable) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, HasSubstr("Usage: ")) << testing::PrintToString(arguments);
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(MlVart, TensorsThatDoNotFitTheBankEndWithMinusOne) {
  setenv("MILLRACE_MEMORY_BANKS", "tiny=64", 1);
  const ProgramResult result = run_config(application(1));
  unsetenv("MILLRACE_MEMORY_BANKS");
  EXPECT_EQ(result.exit_code, kUnusable);
  EXPECT_THAT(result.err, HasSubstr("Error: "));
  EXPECT_THAT(result.err, HasSubstr("tiny"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(MlVart, WrongConfigurationsAreRefusedByName) {
  const Json good = application(1);
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = value;
    return run_config(json);
  };
  const std::string options = "/inference-config/runner-options";
  expect_failure(run({"--app-config", "none.json"}), "none.json");
  expect_failure(run({"--app-config", write("broken.json", "{\n\"a\":")}), "broken.json(2)");
  expect_failure(with("/inference-config", Json::object()), "model-file");
  expect_failure(with("/inference-config/model-file", "none.rai"), "none.rai");
  expect_failure(with("/ifms-config/0/name", "other"), "data");
  expect_failure(with("/ifms-config/0/file", "none.bin"), "none.bin");
  expect_failure(with(options, {{"input-tensor-type", "GPU"}}), "GPU");
  expect_failure(with(options, {{"aie-columns-sharing", "maybe"}}), "maybe");
  expect_failure(with(options, {{"start-column", "left"}}), "left");
  expect_failure(with(options, {{"config-file", "none.json"}}), "none.json");
}

TEST_F(MlVart, InputFilesHoldWholeFrames) {
  Json json = application(1);
  json["ifms-config"][0]["file"] = ifm(1, 3);
  expect_failure(run_config(json), "259 bytes, which is no positive multiple of the 256 bytes");
  json["ifms-config"][0]["file"] = ifm(0);
  expect_failure(run_config(json), "0 bytes");
}

}  // namespace
}  // namespace millrace::test
