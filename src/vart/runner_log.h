// RunnerLog: the lines of one runner in the log of the process. They carry its name, and only those
// up to its own level are passed on; the level of the sink bounds them further. Where neither a
// sink nor MILLRACE_LOG was chosen, they go to standard error; errors of a runner without
// `log_level` and `debug` once per reason.
//
// Immutable and thread-safe. Callbacks may outlive the runner, so they share its log.
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

  // Whether a line of this level would reach a sink: to ask before building an expensive one. Of a
  // level that the runner does not pass on it costs one comparison.
  bool enabled(LogLevel level) const noexcept {
    return level <= level_ && (log_enabled(level) || prints(level));
  }
  // A line for which there is no memory is lost.
  void write(LogLevel level, std::string_view line) const noexcept {
    write_format(level, "{}", line);
  }
  template <class... Args>
  void write_format(LogLevel level, fmt::format_string<Args...> format,
                    Args&&... args) const noexcept {
    if (enabled(level)) write_line(level, format, fmt::make_format_args(args...));
  }

  // The status that the API returns of a call that was refused, or of a job; logs why it failed.
  ::vart::StatusCode report(::vart::StatusCode code, std::string_view reason) const noexcept;
  ::vart::StatusCode code_of(const Status& job) const noexcept;

 private:
  // Whether this log writes lines of that level itself. Errors that nobody asked for are left to
  // the default of the process, which prints those of one reason once.
  bool prints(LogLevel level) const noexcept {
    return (asked_for_ || level != LogLevel::kError) && !log_is_chosen();
  }
  void write_line(LogLevel level, fmt::string_view format, fmt::format_args args) const noexcept;

  const std::string name_;
  const LogLevel level_;
  const bool asked_for_;
};

}  // namespace millrace::vartml
