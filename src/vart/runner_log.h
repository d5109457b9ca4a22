// RunnerLog: the log of one runner. It prefixes lines with the runner's name, drops those above the
// runner's own level, and passes the others to the log of the process, whose level limits them
// further. If the program has installed no sink and MILLRACE_LOG is not set, lines go to standard
// error; the errors of a runner without the options `log_level` and `debug` are then printed only
// once per reason.
//
// Immutable and thread-safe. Callbacks may outlive the runner, so they share ownership of its log.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

class RunnerLog {
 public:
  RunnerLog(std::string name, LogLevel level, bool asked_for)
      : name_(std::move(name)), level_(level), asked_for_(asked_for) {
    print_errors_by_default();
  }

  // True if a line of this level would be written; call it before formatting an expensive line.
  // Costs one comparison for levels that the runner drops.
  bool enabled(LogLevel level) const noexcept {
    return level <= level_ && (log_enabled(level) || prints(level));
  }
  // Writes a line. It is lost if memory is exhausted.
  void write(LogLevel level, std::string_view line) const noexcept {
    write_format(level, "{}", line);
  }
  template <class... Args>
  void write_format(LogLevel level, fmt::format_string<Args...> format,
                    Args&&... args) const noexcept {
    if (enabled(level)) write_line(level, format, fmt::make_format_args(args...));
  }

  // Logs why a call failed, and returns `code`.
  ::vart::StatusCode report(::vart::StatusCode code, std::string_view reason) const noexcept;
  // Returns the code of a job's status, and logs a failure. A full queue and a pending job are not
  // logged.
  ::vart::StatusCode code_of(const Status& job) const noexcept;

 private:
  // True if this log prints lines of that level to standard error by itself. Errors of a runner
  // without a level of its own are left to the log of the process, whose default prints an error
  // once per reason.
  bool prints(LogLevel level) const noexcept {
    return (asked_for_ || level != LogLevel::kError) && !log_is_chosen();
  }
  void write_line(LogLevel level, fmt::string_view format, fmt::format_args args) const noexcept;

  const std::string name_;
  const LogLevel level_;
  const bool asked_for_;
};

}  // namespace millrace::vartml
