// Tests commands whose standard output or output files cannot be written, since there is no room.
#include <gmock/gmock.h>

#include <filesystem>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FullOutputTest : public CliTest {
 protected:
  // Runs the program in a shell that has set it up.
  ProgramResult millrace_after(const std::string& setup, std::vector<std::string> arguments,
                               const std::string& out) const {
    const std::vector<std::string> shell = {"/bin/sh", "-c", setup + "exec \"$0\" \"$@\" >" + out,
                                            MILLRACE_PROGRAM};
    arguments.insert(arguments.begin(), shell.begin(), shell.end());
    return run_program(arguments, directory_.path().string());
  }

  void expect_refused(const std::vector<std::string>& arguments) const {
    SCOPED_TRACE(arguments.front());
    const ProgramResult result = millrace_after("", arguments, "/dev/full");
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.err.starts_with("millrace: ")) << result.err;
    EXPECT_THAT(result.err, HasSubstr("cannot write"));
  }
};

TEST_F(FullOutputTest, EveryCommandSaysSo) {
  const std::string model = compiled("glyphs.rai");
  const std::string picture = file("picture.bin");
  ASSERT_TRUE(io::write_file(picture, std::vector<std::byte>(32 * 32 * sizeof(float))).ok());
  expect_refused({"--help"});
  expect_refused({"--version"});
  expect_refused({"compile", kGlyphsOnnx, "-o", file("other.rai")});
  expect_refused({"inspect", model});
  expect_refused({"inspect", model, "--json"});
  expect_refused({"run", model, "--device", "null", "--input", picture});
  expect_refused({"bench", model, "--device", "null", "-n", "1"});
  expect_refused({"doctor"});
  expect_refused({"env"});
  ASSERT_EQ(millrace({"run", model, "--input", picture, "--output-dir", file("ours")}).exit_code,
            0);
  fs::rename(file("ours/scores.bin"), file("ours/output_p1_f0_0.bin"));
  expect_refused({"golden", model, file("ours"), "--input", picture});
}

TEST_F(FullOutputTest, AnArchiveThatCannotBeWrittenIsNotLeft) {
  const std::string model = compiled("glyphs.rai");
  const auto size = fs::file_size(model);
  const std::string small_files = "trap '' XFSZ; ulimit -f 8; ";  // in half kilobytes
  for (const char* target : {"glyphs.rai", "new.rai"})
    expect_failure(
        millrace_after(small_files, {"compile", kGlyphsOnnx, "-o", file(target)}, "/dev/null"),
        "File too large");
  expect_failure(
      millrace_after(small_files, {"compile", kGlyphsOnnx, "-o", file("new"), "--format", "dir"},
                     "/dev/null"),
      "File too large");
  EXPECT_EQ(fs::file_size(model), size);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), {}), 1);
}

}  // namespace
}  // namespace millrace::test
