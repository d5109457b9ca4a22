#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

TEST_F(CliTest, HelpAndVersionSucceed) {
  EXPECT_EQ(millrace({"--help"}).exit_code, 0);
  EXPECT_EQ(millrace({"run", "--help"}).exit_code, 0);
  EXPECT_EQ(millrace({"--version"}).exit_code, 0);
}

TEST_F(CliTest, SenselessCommandLinesAreUsageErrors) {
  const ProgramResult nothing = millrace({});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(std::ranges::count(nothing.err, '\n'), 1) << nothing.err;
  const ProgramResult no_command = millrace({"grind", "a.rai"});
  EXPECT_EQ(no_command.exit_code, 2);
  EXPECT_NE(no_command.err.find("no command \"grind\"; the commands are compile, "),
            std::string::npos)
      << no_command.err;
  EXPECT_EQ(millrace({"compile", kGlyphsOnnx}).exit_code, 2) << "no output";
  EXPECT_EQ(millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--precision", "fp8"}).exit_code, 2);
  EXPECT_EQ(millrace({"compile", kGlyphsOnnx, "-o", "a.rai", "--batch", "0"}).exit_code, 2);
  const ProgramResult bad_flag = millrace({"inspect", "a.rai", "--colour"});
  EXPECT_EQ(bad_flag.exit_code, 2);
  EXPECT_NE(bad_flag.err.find("--colour"), std::string::npos) << bad_flag.err;
}

}  // namespace
}  // namespace millrace::test
