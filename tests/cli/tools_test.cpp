#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST_F(CliTest, EnvNamesTheLibrariesOfThisBuild) {
  const ProgramResult result = millrace({"env"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("export LD_LIBRARY_PATH='"));
  EXPECT_THAT(result.out, HasSubstr("/lib/pkgconfig"));
}

// Returns the variables after `eval "$(millrace env)"` was run that many times.
std::string paths_after(const std::string& program, int times) {
  std::string script = "export LD_LIBRARY_PATH=/first:/second PKG_CONFIG_PATH=\n";
  for (int i = 0; i < times; ++i) script += "eval \"$('" + program + "' env)\"\n";
  script += "echo $LD_LIBRARY_PATH $PKG_CONFIG_PATH $PATH";
  return run_program({"/bin/sh", "-c", script}, "/").out;
}

TEST_F(CliTest, EnvAddsNothingTwice) {
  const std::string once = paths_after(MILLRACE_PROGRAM, 1);
  EXPECT_THAT(once, ContainsRegex("^/[^:]+:/first:/second /[^: ]+/pkgconfig /"));
  EXPECT_EQ(paths_after(MILLRACE_PROGRAM, 3), once);
}

// The pages of the system are found after those of Millrace.
TEST_F(CliTest, EnvKeepsThePagesOfTheSystem) {
  const std::filesystem::path prefix = std::filesystem::path(MILLRACE_PROGRAM).parent_path() / "..";
  if (!std::filesystem::exists(prefix / "pages" / "man1")) GTEST_SKIP() << "no pages are built";
  const std::string script =
      "unset MANPATH; eval \"$('" MILLRACE_PROGRAM "' env)\"; eval \"$('" MILLRACE_PROGRAM
      "' env)\"; printf %s \"$MANPATH\"";
  const std::string found = run_program({"/bin/sh", "-c", script}, "/").out;
  EXPECT_THAT(found, ContainsRegex("^/[^:]+:$"));
}

// Values of the environment may come from an attacker.
TEST_F(CliTest, EnvQuotesWhatIsInTheVariables) {
  const std::string value = "/it's:'; touch gone; ':$(touch gone):`touch gone`:\"two\nlines\\";
  ::setenv("PKG_CONFIG_PATH", value.c_str(), 1);
  const ProgramResult result = run_program(
      {"/bin/sh", "-c", "eval \"$('" MILLRACE_PROGRAM "' env)\" && printf %s \"$PKG_CONFIG_PATH\""},
      directory_.path().string());
  ::unsetenv("PKG_CONFIG_PATH");
  EXPECT_THAT(result.out, ::testing::EndsWith("/pkgconfig:" + value));
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(std::filesystem::exists(file("gone")));
}

TEST_F(CliTest, BenchReportsLatencyAndThroughput) {
  const ProgramResult result =
      millrace({"bench", compiled("glyphs.rai"), "-n", "5", "--warmup", "1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto figures = nlohmann::json::parse(result.out);
  EXPECT_GT(figures["latency_ms"]["median"], 0.0);
  EXPECT_GT(figures["frames_per_second"], 0.0);
  EXPECT_EQ(result.err, "") << "progress must not be shown when piped";
}

}  // namespace
}  // namespace millrace::test
