#include "base/log.h"

#include <gtest/gtest.h>

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
  log(LogLevel::kError, "unit", "nobody listens");
  EXPECT_EQ(lines, std::vector<std::string>{"WARNING|unit|slow"});
  EXPECT_FALSE(log_enabled(LogLevel::kError));
}

}  // namespace
}  // namespace millrace
