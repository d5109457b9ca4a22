// millrace tune and millrace compile --tune, as a user calls them.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TuneTest : public CliTest {
 protected:
  std::string text_of(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(TuneTest, WritesARecordAndSaysWhatItBrings) {
  const ProgramResult result =
      millrace({"tune", compiled("glyphs.rai"), "-o", file("times"), "--runs", "3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("convolutions chosen by their times"),
                                HasSubstr("latency with the usual kernels")));
  EXPECT_THAT(text_of(file("times")), AllOf(HasSubstr("fingerprint\t"), HasSubstr("conv\t")));
}

TEST_F(TuneTest, TheRecordLiesBesideTheModel) {
  const std::string model = compiled("glyphs.rai");
  ASSERT_EQ(millrace({"tune", model, "--runs", "1"}).exit_code, 0);
  EXPECT_THAT(text_of(model + ".tuning"), HasSubstr("conv\t"));
}

// In the directory the record would become part of the archive.
TEST_F(TuneTest, TheRecordLiesBesideADirectory) {
  const std::string model = compiled("glyphs", {"--format", "dir"});
  ASSERT_EQ(millrace({"tune", model + "/", "--runs", "1"}).exit_code, 0);
  EXPECT_THAT(text_of(model + ".tuning"), HasSubstr("conv\t"));
  ASSERT_EQ(millrace({"tune", model + "/.", "--runs", "1"}).exit_code, 0);
  for (const auto& entry : std::filesystem::directory_iterator(model))
    EXPECT_NE(entry.path().extension(), ".tuning") << entry.path();
}

TEST_F(TuneTest, AModelWithoutConvolutionsHasNothingToTune) {
  const std::string model = compiled("glyphs.rai", {"--cpu-ops", "Conv"});
  expect_failure(millrace({"tune", model}), "there is nothing to tune");
  EXPECT_FALSE(std::filesystem::exists(model + ".tuning"));
}

TEST_F(TuneTest, ARecordThatCannotBeUsedIsAnErrorAndStays) {
  std::ofstream(file("times")) << "something else\n";
  expect_failure(millrace({"tune", compiled("glyphs.rai"), "-o", file("times")}),
                 file("times") + " cannot be used");
  EXPECT_EQ(text_of(file("times")), "something else\n");
}

class CompileAndTune : public TuneTest {
 protected:
  ~CompileAndTune() override {
    ::unsetenv("MILLRACE_TUNING");
    ::unsetenv("MILLRACE_PLUGIN_DIR");
  }

  ProgramResult compile_to(const std::string& output, std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"compile", kGlyphsOnnx, "-o", output, "--tune"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return millrace(arguments);
  }

  // Expects that a program for which MILLRACE_TUNING names the record chooses kernels by it.
  void expect_chosen_by_record(const std::string& model,
                               std::vector<std::string> flags = {}) const {
    ::setenv("MILLRACE_TUNING", (model + ".tuning").c_str(), 1);
    std::vector<std::string> arguments = {"explain", model};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_THAT(millrace(arguments).out, HasSubstr("measured here"));
  }

  void expect_archive_without_record(const std::string& model) const {
    EXPECT_EQ(millrace({"inspect", model}).exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(model + ".tuning"));
  }

  const std::string model_ = file("glyphs.rai");
};

TEST_F(CompileAndTune, SaysWhatBothCommandsSayAndTheNextLoadTakesTheRecord) {
  const ProgramResult result = compile_to(model_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("13 operators"),
                                HasSubstr(model_ + ".tuning: kernels of 9 convolutions chosen"),
                                HasSubstr("latency with the usual kernels")));
  expect_chosen_by_record(model_);
}

// The archive is measured, not the network in FP32 with one frame.
TEST_F(CompileAndTune, TakesPrecisionAndBatchOfTheArchive) {
  const ProgramResult result = compile_to(model_, {"--precision", "bf16", "--batch", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_chosen_by_record(model_);
}

TEST_F(CompileAndTune, TheRecordLiesBesideADirectory) {
  ASSERT_EQ(compile_to(file("glyphs") + "/", {"--format", "dir"}).exit_code, 0);
  expect_chosen_by_record(file("glyphs"));
}

TEST_F(CompileAndTune, ADynamicModelIsMeasuredWithTheShapesGiven) {
  const std::string open = "image=?,1,32,32", shape = "image=3,1,32,32";
  expect_failure(compile_to(model_, {"--input-shape", open}), "written, but not tuned");
  expect_archive_without_record(model_);
  const ProgramResult result = compile_to(model_, {"--input-shape", open, "--shape", shape});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  expect_chosen_by_record(model_, {"--shape", shape});
}

TEST_F(CompileAndTune, TheArchiveStaysWhereThereIsNothingToTune) {
  expect_failure(compile_to(model_, {"--cpu-ops", "Conv"}), "there is nothing to tune");
  expect_archive_without_record(model_);
}

TEST_F(CompileAndTune, TheArchiveStaysWhereTheRecordCannotBeUsed) {
  std::ofstream(model_ + ".tuning") << "something else\n";
  expect_failure(compile_to(model_), model_ + ".tuning cannot be used");
  EXPECT_EQ(text_of(model_ + ".tuning"), "something else\n");
  EXPECT_EQ(millrace({"inspect", model_}).exit_code, 0);
}

TEST_F(CompileAndTune, ADeviceThatCannotBeLoadedIsAnErrorBeforeTheWork) {
  ::setenv("MILLRACE_PLUGIN_DIR", directory_.path().c_str(), 1);
  std::ofstream(file("libmillrace-cpu.so")) << "no library";
  expect_failure(compile_to(model_), "--tune: the plugin of device \"cpu\" cannot be loaded");
  EXPECT_FALSE(std::filesystem::exists(model_));
}

// The folder has plugins of the user; the device lies beside the core.
TEST_F(CompileAndTune, AFolderOfOtherPluginsDoesNotHideTheDevice) {
  ::setenv("MILLRACE_PLUGIN_DIR", directory_.path().c_str(), 1);
  EXPECT_EQ(compile_to(model_).exit_code, 0);
}

TEST_F(CompileAndTune, NoOtherOutputIsTheRecordOrTakenForAModel) {
  expect_failure(compile_to(model_, {"--emit-qdq", model_ + ".tuning"}), "keeps its times");
  // Two paths name the same output; the directory of one of them does not exist yet.
  expect_failure(
      compile_to(file("glyphs") + "/", {"--format", "dir", "--emit-qdq", file("glyphs.tuning")}),
      "keeps its times");
  expect_failure(compile_to(file("copy.onnx")), "copy.onnx would be taken for an ONNX file");
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(CompileAndTune, AShapeIsForTuningOnly) {
  const ProgramResult result =
      millrace({"compile", kGlyphsOnnx, "-o", model_, "--shape", "image=1,1,32,32"});
  EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("--shape requires --tune"));
}

}  // namespace
}  // namespace millrace::test
