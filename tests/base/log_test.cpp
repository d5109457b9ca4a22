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

// What MILLRACE_LOG asks for is read once, so each of these asks in a process of its own.
void log_at_every_level(const char* variable) {
  setenv("MILLRACE_LOG", variable, 1);
  for (const LogLevel level :
       {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
    log(level, "test", "line");
  std::_Exit(0);
}

TEST(LogDeathTest, TheVariableIsReadInAnyCase) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto exits = testing::ExitedWithCode(0);
  EXPECT_EXIT(log_at_every_level("DEBUG"), exits, "DEBUG. test: line");
  EXPECT_EXIT(log_at_every_level("Warn"), exits, "^.ERROR. test: line\n.WARNING. test: line\n$");
  EXPECT_EXIT(log_at_every_level(""), exits, "^$");
}

TEST(LogDeathTest, AVariableThatMakesNoSenseIsNamedAndShowsWarnings) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(log_at_every_level("verbose"), testing::ExitedWithCode(0),
              "MILLRACE_LOG is \"verbose\".*\n.ERROR. test: line\n.WARNING. test: line\n$");
}

}  // namespace
}  // namespace millrace
