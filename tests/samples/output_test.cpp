// Samples that cannot write: standard output that is full, and files that are.
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SampleOutput : public SampleTest {
 protected:
  // Runs the program with what a shell sets up first.
  ProgramResult run_after(const std::string& setup, const std::string& program,
                          const std::vector<std::string>& arguments, const std::string& out) const {
    std::vector<std::string> words = {"-c", setup + "exec \"$0\" \"$@\" >" + out, program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run("/bin/sh", words);
  }

  void expect_refused(const std::string& program, const std::vector<std::string>& arguments) const {
    SCOPED_TRACE(program);
    const ProgramResult result = run_after("", program, arguments, "/dev/full");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("cannot write to standard output"));
  }

  // No file can grow beyond so many blocks of half a kilobyte, nor can memory that is a file.
  ProgramResult run_with_small_files(int blocks, const std::string& program,
                                     const std::vector<std::string>& arguments) const {
    return run_after("trap '' XFSZ; ulimit -f " + std::to_string(blocks) + "; ", program, arguments,
                     "/dev/null");
  }

  std::string ml_vart_config() const {
    return config({{"inference-config", {{"model-file", model({.batch_size = 2})}}},
                   {"ifms-config", {{{"name", "data"}, {"file", ifm(kFrames)}}}}});
  }

  std::string models_config() const {
    return config(Json::array({{{"model_cache_path", model({.batch_size = kFrames})},
                                {"ifm_node_file_map", {{"data", ifm(kFrames)}}}}}));
  }

  // Their outputs take twice the size that most programs are given below.
  static constexpr uint32_t kFrames = 8;
  static constexpr int kHalfOfThem = kFrames / 2 * kOutputBytes / 512;
};

TEST_F(SampleOutput, AFullStandardOutputIsAnError) {
  const std::string path = model();
  expect_refused(MILLRACE_INFER_ASYNC, {path, "--dry-run"});
  expect_refused(MILLRACE_CALLBACK, {path, ifm(kFrames)});
  expect_refused(MILLRACE_ML_VART, {"--app-config", ml_vart_config()});
  expect_refused(MILLRACE_ML_VART, {"--get-model-info", path});
  expect_refused(MILLRACE_MULTI_TENANCY, {"--config", models_config(), "--dry-run"});
  expect_refused(MILLRACE_MULTIMODEL_SEQ, {"--config", models_config(), "--dry-run"});
  expect_refused(MILLRACE_NRT_LOAD_RUN, {path});
  expect_refused(MILLRACE_NRT_ASYNC_PIPELINE, {"-n", "2", path});
  expect_refused(MILLRACE_NRT_ERROR_TRACKER, {"-n", "2", path});
}

TEST_F(SampleOutput, SoIsOneThatTheHelpDoesNotFitIn) {
  for (const char* program :
       {MILLRACE_INFER_ASYNC, MILLRACE_CALLBACK, MILLRACE_MULTI_TENANCY, MILLRACE_MULTIMODEL_SEQ,
        MILLRACE_X_PLUS_ML, MILLRACE_GLYPHS, MILLRACE_NRT_LOAD_RUN, MILLRACE_NRT_ASYNC_PIPELINE,
        MILLRACE_NRT_ERROR_TRACKER})
    expect_refused(program, {"--help"});
}

TEST_F(SampleOutput, FilesThatCannotBeWrittenAreNotLeft) {
  expect_failure(run_with_small_files(kHalfOfThem, MILLRACE_INFER_ASYNC,
                                      {model({.batch_size = kFrames}), ifm(kFrames)}),
                 "cannot write output_p1_f9_0.bin");
  expect_failure(run_with_small_files(kHalfOfThem, MILLRACE_CALLBACK, {model(), ifm(kFrames)}),
                 "cannot write callback_out_0.bin");
  expect_failure(
      run_with_small_files(kHalfOfThem, MILLRACE_ML_VART, {"--app-config", ml_vart_config()}),
      "cannot write output/infer_out0");
  expect_failure(run_with_small_files(1, MILLRACE_ML_VART, {"--get-model-info", model()}),
                 "cannot write tiny_info.json");
  for (const char* program : {MILLRACE_MULTI_TENANCY, MILLRACE_MULTIMODEL_SEQ})
    expect_failure(run_with_small_files(kHalfOfThem, program, {"--config", models_config()}),
                   "cannot write ./ofm_model_1/");
  expect_failure(run_with_small_files(1, MILLRACE_NRT_LOAD_RUN, {"-o", ".", model()}),
                 "cannot write ./probs.bin");
}

TEST_F(SampleOutput, AnOlderFileStaysWhenANewOneCannotBeWritten) {
  const std::vector<std::string> arguments = {"-o", ".", model()};
  ASSERT_EQ(run(MILLRACE_NRT_LOAD_RUN, arguments).exit_code, 0);
  const size_t size = size_of("probs.bin");
  EXPECT_EQ(run_with_small_files(1, MILLRACE_NRT_LOAD_RUN, arguments).exit_code, 1);
  EXPECT_THAT(files(), ElementsAre("probs.bin"));
  EXPECT_EQ(size_of("probs.bin"), size);
}

}  // namespace
}  // namespace millrace::test
