// docs/native-api.md shows a program and its output: both are true.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "source_dir.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

std::string content(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kSource = MILLRACE_SOURCE_DIR;

TEST(NativeApiPage, ShowsTheProgram) {
  EXPECT_THAT(content(kSource + "/docs/native-api.md"),
              HasSubstr("```cpp\n" + content(kSource + "/samples/native/first_job.cpp") + "```\n"));
}

TEST(NativeApiPage, ShowsWhatTheProgramPrints) {
  const TemporaryDirectory directory;
  const std::string archive = directory.file("glyphs.rai");
  const ProgramResult compiled = run_program(
      {MILLRACE_PROGRAM, "compile", kSource + "/models/glyphs/glyphs.onnx", "-o", archive}, "/");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const ProgramResult run = run_program(
      {MILLRACE_FIRST_JOB, archive, kSource + "/models/glyphs/heldback_images.npy"}, "/");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.size(), 40u) << run.out;
  EXPECT_THAT(content(kSource + "/docs/native-api.md"), HasSubstr("\n" + run.out + "\n"));
}

TEST(NativeApiPage, TheProgramSaysWhatIsMissing) {
  const ProgramResult run = run_program({MILLRACE_FIRST_JOB, "/none.rai", "/none.npy"}, "/");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("/none.rai"));
}

}  // namespace
}  // namespace millrace::test
