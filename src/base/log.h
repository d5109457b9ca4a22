// The log sink: where the library says what is worth knowing but is no failure of a call.
//
// The library itself prints nothing. A program installs a sink; without one, lines are dropped,
// unless the environment variable MILLRACE_LOG is set to error, warning (or warn), info or debug,
// in any case: then lines up to that level go to standard error, one write per line. Any other text
// is taken as warning, and a line says so.
//
// All functions may be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace millrace {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "ERROR", "WARNING", "INFO" or "DEBUG".
std::string_view to_string(LogLevel level) noexcept;

// Receives each line without a line end. Called from whatever thread logs, one call at a time; must
// not log itself.
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view line)>;

// Replaces the sink for lines up to `level`; an empty function drops everything. When it returns,
// the previous sink is no longer running.
void set_log_sink(LogSink sink, LogLevel level = LogLevel::kInfo);

// Sinks: one write per line.
void log_to_fd(int fd, LogLevel level, std::string_view component, std::string_view line);
void log_to_stderr(LogLevel level, std::string_view component, std::string_view line);

// Where neither a sink was set nor MILLRACE_LOG says what is wanted, lines up to this level go to
// this sink from now on; none with no level. For faces whose contract is to print.
void set_default_log(std::optional<LogLevel> level, LogSink sink = log_to_stderr);

// Whether a sink was set or MILLRACE_LOG says what is wanted. Where neither is so, who was asked
// for lines by other means may write them with log_to_stderr().
bool log_is_chosen() noexcept;

// The level of that name, in any case; "warn" is kWarning.
std::optional<LogLevel> parse_log_level(std::string_view text);

// What MILLRACE_LOG says; `otherwise` when it is not set or says nothing that is known.
LogLevel log_level_of_environment(LogLevel otherwise);

// True when a line of this level would reach a sink: asks before building an expensive message.
bool log_enabled(LogLevel level) noexcept;

void log(LogLevel level, std::string_view component, std::string_view line);

}  // namespace millrace
