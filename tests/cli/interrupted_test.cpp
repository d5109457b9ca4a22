// Compilations that are interrupted at every call by which they change files.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/interrupted_program.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

constexpr int kMostCalls = 200;  // of one compilation, which makes far fewer

class InterruptedTest : public CliTest {
 protected:
  InterruptedTest() { fs::create_directory(folder_); }

  // Compiles over the output of an earlier compilation, with a signal at each call in turn, and
  // has `check` look at the folder after each. Ends when the compilation does before the signal.
  template <class Check>
  void interrupt_everywhere(const std::string& format, InterruptionPlan plan, Check check,
                            const std::vector<std::string>& flags = {}) {
    std::vector<std::string> command = {MILLRACE_PROGRAM, "compile",  kGlyphsOnnx, "-o",
                                        output(),         "--format", format};
    command.insert(command.end(), flags.begin(), flags.end());
    ASSERT_EQ(run_program(command, folder_).exit_code, 0);
    for (plan.call = 0; plan.call < kMostCalls; ++plan.call) {
      const Interruption ended = interrupt_program(command, folder_, plan);
      SCOPED_TRACE(testing::Message() << "signal " << plan.signal << " at call " << plan.call);
      ASSERT_NE(ended.exit_code, 127) << "the program cannot be traced";
      if (!ended.reached) break;
      EXPECT_EQ(ended.exit_code, 128 + plan.signal);
      ASSERT_NO_FATAL_FAILURE(check());
    }
    EXPECT_GT(plan.call, 3);
    EXPECT_LT(plan.call, kMostCalls);
  }

  void expect_whole_output_only() const {
    EXPECT_THAT(names(), UnorderedElementsAre("glyphs"));
    EXPECT_EQ(millrace({"inspect", output()}).exit_code, 0);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  std::string output() const { return folder_ + "/glyphs"; }

  const std::string folder_ = file("folder");
};

class InterruptedBySignal : public InterruptedTest, public testing::WithParamInterface<int> {};

TEST_P(InterruptedBySignal, AFileLeavesNothing) {
  interrupt_everywhere("rai", {.signal = GetParam()}, [&] { expect_whole_output_only(); });
}

TEST_P(InterruptedBySignal, AFileWithATemporaryNameLeavesNothing) {
  interrupt_everywhere("rai", {.signal = GetParam(), .unlisted_files = false},
                       [&] { expect_whole_output_only(); });
}

TEST_P(InterruptedBySignal, ADirectoryLeavesNothing) {
  interrupt_everywhere("dir", {.signal = GetParam()}, [&] { expect_whole_output_only(); });
}

// Each record is removed, so that the next run has one to write. A record is complete after the
// first run, and after an interruption at the call that gives it its name.
TEST_F(InterruptedTest, TuningLeavesAnArchiveAndNoPartOfARecord) {
  const std::string record = output() + ".tuning";
  int whole_records = 0;
  const auto check = [&] {
    if (fs::exists(record)) {
      EXPECT_EQ(millrace({"tune", output(), "--runs", "1"}).exit_code, 0);
      fs::remove(record);
      ++whole_records;
    }
    expect_whole_output_only();
  };
  interrupt_everywhere("rai", {.signal = SIGINT, .unlisted_files = false}, check, {"--tune"});
  EXPECT_GT(whole_records, 1) << "no signal came while a record was written";
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedBySignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

class KilledTest : public InterruptedTest, public testing::WithParamInterface<const char*> {};

// The old output is complete at any time. The next compilation removes temporary files that a
// killed one has left.
TEST_P(KilledTest, WhatIsLeftGoesWithTheNextRun) {
  for (const bool unlisted_files : {true, false}) {
    bool left = false;
    interrupt_everywhere(GetParam(), {.signal = SIGKILL, .unlisted_files = unlisted_files}, [&] {
      left = left || names().size() > 1;
      EXPECT_EQ(millrace({"inspect", output()}).exit_code, 0);
      ASSERT_EQ(
          millrace({"compile", kGlyphsOnnx, "-o", output(), "--format", GetParam()}).exit_code, 0);
      EXPECT_THAT(names(), UnorderedElementsAre("glyphs"));
    });
    EXPECT_TRUE(left || unlisted_files) << "nothing was left, so nothing was tested";
  }
}

// If names cannot be exchanged, the old directory has another name between two renames, and keeps
// it if the program is killed then. Later, while it is removed, its remains have a temporary name.
TEST_F(InterruptedTest, ADirectoryThatIsReplacedByTwoRenamesIsWholeSomewhere) {
  int aside = 0;
  interrupt_everywhere("dir", {.signal = SIGKILL, .exchanges = false}, [&] {
    for (const std::string& name : names())
      if (name.ends_with(".tmp.old")) {
        ++aside;
        EXPECT_EQ(millrace({"inspect", folder_ + "/" + name}).exit_code, 0);
        fs::remove_all(folder_ + "/" + name);
      }
    if (aside == 0) {  // KilledTest checks what is left by the calls before the renames
      for (const std::string& name : names())
        if (name != "glyphs") fs::remove_all(folder_ + "/" + name);
      return;
    }
    ASSERT_EQ(millrace({"compile", kGlyphsOnnx, "-o", output(), "--format", "dir"}).exit_code, 0);
    EXPECT_THAT(names(), UnorderedElementsAre("glyphs"));
  });
  EXPECT_EQ(aside, 2);
}

INSTANTIATE_TEST_SUITE_P(Forms, KilledTest, testing::Values("rai", "dir"));

TEST_F(CliTest, CompileGoesOnAfterASignalThatItsCallerIgnores) {
  ::signal(SIGHUP, SIG_IGN);
  const Interruption ended =
      interrupt_program({MILLRACE_PROGRAM, "compile", kGlyphsOnnx, "-o", file("glyphs.rai")},
                        directory_.path().string(), {.call = 1, .signal = SIGHUP});
  ::signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(ended.reached);
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(fs::exists(file("glyphs.rai")));
}

}  // namespace
}  // namespace millrace::test
