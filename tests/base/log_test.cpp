#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace millrace {
namespace {

TEST(Log, SinkReceivesLinesUpToItsLevel) {
  std::vector<std::string> lines;
  set_log_sink(
      [&](LogLevel level, std::string_view component, std::string_view line) {
        lines.push_back(std::string(to_string(level)) + "|" + std::string(component) + "|" +
                        std::string(line));
      },
      LogLevel::kWarning);
  log(LogLevel::kWarning, "unit", "slow");
  log(LogLevel::kInfo, "unit", "not wanted");
  set_log_sink({});
  log(LogLevel::kError, "unit", "no sink takes this");
  EXPECT_EQ(lines, std::vector<std::string>{"WARNING|unit|slow"});
  EXPECT_FALSE(log_enabled(LogLevel::kError));
}

// MILLRACE_LOG is read once per process, so each of these tests runs in a process of its own.
class LogDeathTest : public testing::Test {
 protected:
  LogDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

void log_at_every_level(const char* variable) {
  setenv("MILLRACE_LOG", variable, 1);
  for (const LogLevel level :
       {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
    log(level, "test", "line");
  std::_Exit(0);
}

TEST(Log, ControlCharactersOfALineAreEscaped) {
  std::string received;
  set_log_sink([&](LogLevel, std::string_view, std::string_view line) { received = line; });
  log(LogLevel::kError, "test", "model \"a\x1b[2J\nb\x7f\" \xc3\xa4");
  set_log_sink({});
  EXPECT_EQ(received, "model \"a\\x1b[2J\\x0ab\\x7f\" \xc3\xa4");
}

TEST_F(LogDeathTest, ControlCharactersOfALineForStandardErrorAreEscaped) {
  EXPECT_EXIT(
      {
        log_to_stderr(LogLevel::kError, "test", "two\nlines");
        std::exit(0);
      },
      testing::ExitedWithCode(0), "two.x0alines");
}

TEST_F(LogDeathTest, TheVariableIsReadInAnyCase) {
  const auto exits = testing::ExitedWithCode(0);
  EXPECT_EXIT(log_at_every_level("DEBUG"), exits, "DEBUG. test: line");
  EXPECT_EXIT(log_at_every_level("Warn"), exits, "^.ERROR. test: line\n.WARNING. test: line\n$");
  EXPECT_EXIT(log_at_every_level(""), exits, "^$");
  EXPECT_EXIT(log_at_every_level("Off"), exits, "^$");
}

TEST_F(LogDeathTest, AVariableThatMakesNoSenseIsNamedAndShowsWarnings) {
  EXPECT_EXIT(log_at_every_level("verbose"), testing::ExitedWithCode(0),
              "MILLRACE_LOG is \"verbose\".*\n.ERROR. test: line\n.WARNING. test: line\n$");
}

TEST_F(LogDeathTest, ErrorsOfAFaceArePrintedOncePerReason) {
  const auto fail_again_and_again = [] {
    print_errors_by_default();
    for (int job = 1; job <= 3; ++job) {
      const std::string number = std::to_string(job);
      log(LogLevel::kError, "test", "job " + number + " has failed");
      log(LogLevel::kWarning, "test", "a warning");
    }
    log(LogLevel::kError, "other", "job 1 has failed");
    std::_Exit(0);
  };
  EXPECT_EXIT(fail_again_and_again(), testing::ExitedWithCode(0),
              "^.ERROR. test: job 1 has failed\n.ERROR. other: job 1 has failed\n$");
}

TEST_F(LogDeathTest, FacesDoNotOverrideWhatWasChosen) {
  const auto fail_twice = [](const char* variable) {
    setenv("MILLRACE_LOG", variable, 1);
    print_errors_by_default();
    set_default_log(LogLevel::kDebug);
    for (int i = 0; i < 2; ++i) log(LogLevel::kError, "test", "line");
    std::_Exit(0);
  };
  EXPECT_EXIT(fail_twice("off"), testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(fail_twice("error"), testing::ExitedWithCode(0),
              "^.ERROR. test: line\n.ERROR. test: line\n$");
}

TEST_F(LogDeathTest, TheFaceWithSettingsTakesPrecedence) {
  const auto log_of_both = [](bool settings_first) {
    const auto set = [] { set_default_log(LogLevel::kWarning); };
    if (settings_first) set();
    print_errors_by_default();
    if (!settings_first) set();
    for (int i = 0; i < 2; ++i) log(LogLevel::kWarning, "test", "line");
    std::_Exit(0);
  };
  for (const bool settings_first : {true, false})
    EXPECT_EXIT(log_of_both(settings_first), testing::ExitedWithCode(0),
                "^.WARNING. test: line\n.WARNING. test: line\n$");
}

}  // namespace
}  // namespace millrace
