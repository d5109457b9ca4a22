// The log of the process. Lines have a level, a component and a text.
//
// Lines go to the sink that the program installs. Without one, the environment variable
// MILLRACE_LOG decides: set to error, warning (or warn), info or debug, in upper or lower case, it
// sends lines up to that level to standard error, or to MILLRACE_LOG_FILE; "off" drops all lines;
// other text counts as warning, which is logged. If neither is set, a face may choose a
// default: those of the vendors' APIs print errors, once per reason. Without any of these, all
// lines are dropped.
//
// Thread-safe.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files/known_file.h"

namespace millrace {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// Returns "ERROR", "WARNING", "INFO" or "DEBUG".
std::string_view to_string(LogLevel level) noexcept;

// A sink receives each line, without a line end. It is called on the thread that logs, one call at
// a time, in the default floating-point environment. It must not log itself, since that would
// deadlock.
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view line)>;

// Installs a sink for lines up to `level`; an empty function drops all lines. When it returns, the
// previous sink is no longer running.
void set_log_sink(LogSink sink, LogLevel level = LogLevel::kInfo);

// These sinks write each line with one system call. A line is dropped if the descriptor now refers
// to another file (base/files/known_file.h), or descriptor 2 is not standard error
// (base/files/standard_error.h).
void log_to_file(const KnownFile& file, LogLevel level, std::string_view component,
                 std::string_view line);
void log_to_stderr(LogLevel level, std::string_view component, std::string_view line);

// The error lines that a default log receives. Jobs that fail repeatedly for one reason would
// otherwise flood the terminal of a user who has not requested a log.
enum class ErrorLines {
  kAll,
  kOncePerReason,  // at most 256 reasons; texts that only differ in numbers have the same reason
};

// Sets the default of a face: if neither a sink nor MILLRACE_LOG is set, lines up to this level go
// to this sink from now on. Without a level, all lines are dropped.
void set_default_log(std::optional<LogLevel> level, LogSink sink = log_to_stderr,
                     ErrorLines errors = ErrorLines::kAll);

// Sets the default of a face that has no log settings of its own: errors go to standard error, once
// per reason. Has no effect if another default has been set.
void print_errors_by_default();

// True if a sink or MILLRACE_LOG is set. Otherwise a component from which lines were requested by
// other means, such as an option, may write them with log_to_stderr().
bool log_is_chosen() noexcept;

// Returns the level of a name, in upper or lower case; "warn" is kWarning.
std::optional<LogLevel> parse_log_level(std::string_view text);

// Returns the level in MILLRACE_LOG; `otherwise` if it is not set or not a level.
LogLevel log_level_of_environment(LogLevel otherwise);

// True if a line of this level would reach a sink; call it before formatting an expensive message.
bool log_enabled(LogLevel level) noexcept;

// Logs a line. It is lost if the sink throws or memory is exhausted. A sink must not end its
// thread.
void log(LogLevel level, std::string_view component, std::string_view line) noexcept;

// Formats and logs a line, if it would reach a sink.
template <class... Args>
void log_format(LogLevel level, std::string_view component, fmt::format_string<Args...> format,
                Args&&... args) noexcept {
  if (!log_enabled(level)) return;
  try {
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
    log(level, component, {line.data(), line.size()});
  } catch (const std::exception&) {
    log(level, component, "a log line could not be formatted: out of memory");
  }
}

}  // namespace millrace
