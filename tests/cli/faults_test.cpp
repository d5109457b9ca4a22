// The tool runs models under the faults and the watchdog that the environment asks for.
#include <gmock/gmock.h>

#include <cstdlib>
#include <span>
#include <vector>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

class CliFaults : public CliTest {
 protected:
  ~CliFaults() override {
    for (const char* name : {"MILLRACE_FAULTS", "MILLRACE_WATCHDOG"}) ::unsetenv(name);
  }

  // Five warm-up and ten measured runs, each alone, then ten with two in flight.
  ProgramResult bench() const {
    return millrace({"bench", kGlyphsOnnx, "--warmup", "5", "-n", "10"});
  }
  ProgramResult run() const {
    const std::vector<float> picture(32 * 32);
    EXPECT_TRUE(io::write_file(file("a.bin"), std::as_bytes(std::span(picture))).ok());
    return millrace({"run", kGlyphsOnnx, "--input", file("a.bin")});
  }
};

TEST_F(CliFaults, AreAFailureOfBench) {
  for (const char* faults : {"fail=1", "fail=10", "fail=20"}) {
    ::setenv("MILLRACE_FAULTS", faults, 1);
    expect_failure(bench(), "injected");
  }
  ::setenv("MILLRACE_FAULTS", "fail=26", 1);
  EXPECT_EQ(bench().exit_code, 0) << "there are 25 jobs";
}

TEST_F(CliFaults, AreAFailureOfRun) {
  ::setenv("MILLRACE_FAULTS", "fail=1,status=OUT_OF_MEMORY", 1);
  expect_failure(run(), "injected");
}

TEST_F(CliFaults, ThatMakeNoSenseAreNamed) {
  ::setenv("MILLRACE_FAULTS", "burn=3", 1);
  expect_failure(bench(), "MILLRACE_FAULTS");
}

TEST_F(CliFaults, ThatHangAreGivenUpByTheWatchdog) {
  ::setenv("MILLRACE_FAULTS", "hang=1", 1);
  ::setenv("MILLRACE_WATCHDOG", "500ms", 1);
  for (const ProgramResult& result : {bench(), run()}) {
    EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
    EXPECT_THAT(result.err, testing::HasSubstr("made no progress for 500 ms in frame 0"));
  }
}

TEST_F(CliFaults, AWatchdogThatMakesNoSenseIsNamed) {
  ::setenv("MILLRACE_WATCHDOG", "10", 1);
  expect_failure(bench(), "MILLRACE_WATCHDOG: \"10\" is no duration");
}

}  // namespace
}  // namespace millrace::test
