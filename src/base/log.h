// The log of the process: what is worth knowing, and why calls and jobs failed.
//
// Lines go to the sink that the program installs. Without one, the environment variable
// MILLRACE_LOG decides: set to error, warning (or warn), info or debug, in any case, it sends lines
// up to that level to standard error, one write per line; "off" drops them all; any other text is
// taken as warning, and a line says so. Without that, too, a face may choose a default: both faces
// print errors, once per reason. A program that uses no face gets no line that it did not ask for.
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

// "ERROR", "WARNING", "INFO" or "DEBUG".
std::string_view to_string(LogLevel level) noexcept;

// Receives each line without a line end. It is called on the thread that logs, one call at a time,
// in the default floating-point environment; it must not log itself.
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view line)>;

// Replaces the sink for lines up to `level`; an empty function drops everything. When it returns,
// the previous sink is no longer running.
void set_log_sink(LogSink sink, LogLevel level = LogLevel::kInfo);

// These sinks write each line with one call. A line is lost where the descriptor of the file has
// been given to another file, or number 2 is not standard error (base/files/standard_error.h).
void log_to_file(const KnownFile& file, LogLevel level, std::string_view component,
                 std::string_view line);
void log_to_stderr(LogLevel level, std::string_view component, std::string_view line);

// The error lines that a default log gets. A job that fails again and again for one reason would
// flood a terminal whose user did not ask for a log.
enum class ErrorLines {
  kAll,
  kOncePerReason,  // texts that differ in numbers only have the same reason; at most 256 reasons
};

// The default of a face: where neither a sink was set nor MILLRACE_LOG, lines up to this level go
// to this sink from now on; none with no level.
void set_default_log(std::optional<LogLevel> level, LogSink sink = log_to_stderr,
                     ErrorLines errors = ErrorLines::kAll);

// The default of a face that has no settings of its own: errors go to standard error, once per
// reason. Without effect where another default was set before.
void print_errors_by_default();

// Whether a sink or MILLRACE_LOG was set. Otherwise a part of the library that was asked for lines
// by other means may write them with log_to_stderr().
bool log_is_chosen() noexcept;

// The level of that name, in any case; "warn" is kWarning.
std::optional<LogLevel> parse_log_level(std::string_view text);

// The level in MILLRACE_LOG; `otherwise` when it is not set or is no level.
LogLevel log_level_of_environment(LogLevel otherwise);

// True when a line of this level would reach a sink: asks before building an expensive message.
bool log_enabled(LogLevel level) noexcept;

// A line that the sink throws at, or for which there is no memory, is lost. A sink must not end its
// thread.
void log(LogLevel level, std::string_view component, std::string_view line) noexcept;

// The same with a line that is formatted, if it would reach a sink.
template <class... Args>
void log_format(LogLevel level, std::string_view component, fmt::format_string<Args...> format,
                Args&&... args) noexcept {
  if (!log_enabled(level)) return;
  try {
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
    log(level, component, {line.data(), line.size()});
  } catch (const std::exception&) {
    log(level, component, "a line could not be formatted: there is no memory");
  }
}

}  // namespace millrace
