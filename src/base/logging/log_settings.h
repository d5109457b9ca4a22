// The log's settings in the environment.
#pragma once

#include "base/log.h"

namespace millrace {

// Applied once per process, when the log is first used.
struct LogSettings {
  bool chosen = false;            // MILLRACE_LOG or MILLRACE_LOG_FILE is set
  std::optional<LogLevel> level;  // nothing: all lines are dropped
  LogSink sink = log_to_stderr;   // by MILLRACE_LOG_FILE and MILLRACE_LOG_FORMAT
};

// Reads the variables. What is wrong with one is written to standard error, as a line of the log,
// and replaced by its default. Throws std::bad_alloc.
LogSettings log_settings();

}  // namespace millrace
