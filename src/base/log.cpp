// The state of the log is one object with a mutex, which is held while a sink runs. The level is
// atomic, so that a disabled line costs one relaxed load. The state is never destroyed, since
// threads may log while the process exits.
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/cancellation.h"
#include "base/files/standard_error.h"
#include "base/float_environment.h"
#include "base/logging/log_line.h"
#include "base/logging/log_settings.h"
#include "base/never_destroyed.h"
#include "base/printable.h"
#include "base/process/forked_child.h"
#include "base/same_text.h"
#include "base/seen_reasons.h"
#include "base/settings/environment.h"

namespace millrace {
namespace {

constexpr const char* kLogVariable = "MILLRACE_LOG";
constexpr int kDropEverything = -1;

struct SinkState {
  // Applies log_settings().
  SinkState() noexcept;

  std::mutex mutex;
  LogSink sink;
  std::atomic<int> level{kDropEverything};
  std::atomic<bool> chosen{false};  // set by the program or the environment
  bool has_default = false;         // set by a face
  ErrorLines errors = ErrorLines::kAll;
  SeenReasons reasons;  // used if `errors` is kOncePerReason
};

// Calls `write` with the line in printable form: lines contain names from models, which must
// neither end the line nor contain control sequences for a terminal.
template <class Write>
void with_printable(std::string_view line, Write&& write) {
  if (is_printable(line)) return write(line);
  write(std::string_view(printable(line)));
}

std::string whole_line(LogLevel level, std::string_view component, std::string_view line) {
  std::string text;
  with_printable(line, [&](std::string_view shown) {
    text = log_line(LogFormat::kPlain, level, component, shown);
  });
  return text;
}

SinkState::SinkState() noexcept {
  try {
    LogSettings settings = log_settings();
    chosen = settings.chosen;
    if (!settings.level) return;
    sink = std::move(settings.sink);
    level = static_cast<int>(*settings.level);
  } catch (const std::exception&) {
    return;  // memory is exhausted: there is no log
  }
}

void set_default_locked(SinkState& state, std::optional<LogLevel> level, LogSink sink,
                        ErrorLines errors) {
  if (state.chosen) return;
  state.has_default = true;
  state.level = level ? static_cast<int>(*level) : kDropEverything;
  state.sink = level ? std::move(sink) : LogSink();
  state.errors = errors;
}

// True if this error line is to be written. Requirement: state.mutex is held.
bool is_wanted(SinkState& state, std::string_view component, std::string_view line) {
  if (state.errors == ErrorLines::kAll) return true;
  const SeenReasons::Answer answer = state.reasons.note(component, line);
  if (answer == SeenReasons::Answer::kTooMany)
    state.sink(LogLevel::kError, "log",
               "errors for further reasons are not shown; MILLRACE_LOG=error shows all of them");
  return answer == SeenReasons::Answer::kNew;
}

SinkState& sink_state() {
  static NeverDestroyed<SinkState> state;
  return state.get();
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kError:
      return "ERROR";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kDebug:
      return "DEBUG";
  }
  return "UNKNOWN";
}

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (const LogLevel level :
       {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
    if (same_text(text, to_string(level))) return level;
  if (same_text(text, "warn")) return LogLevel::kWarning;
  return std::nullopt;
}

LogLevel log_level_of_environment(LogLevel otherwise) {
  return parse_log_level(environment_variable(kLogVariable)).value_or(otherwise);
}

void log_to_file(const KnownFile& file, LogLevel level, std::string_view component,
                 std::string_view line) {
  const std::string text = whole_line(level, component, line);
  const CancellationOff whole;
  const UniqueFd to = file.borrow();
  // A log line that cannot be written has nowhere else to go.
  if (to) [[maybe_unused]]
    const ssize_t written = ::write(to.get(), text.data(), text.size());
}

void log_to_stderr(LogLevel level, std::string_view component, std::string_view line) {
  write_standard_error(whole_line(level, component, line));
}

bool log_is_chosen() noexcept {
  return sink_state().chosen.load(std::memory_order_relaxed);
}

void set_log_sink(LogSink sink, LogLevel level) {
  SinkState& state = sink_state();
  const std::lock_guard lock(state.mutex);
  state.level = sink ? static_cast<int>(level) : kDropEverything;
  state.sink = std::move(sink);
  state.errors = ErrorLines::kAll;
  state.chosen = true;
}

void set_default_log(std::optional<LogLevel> level, LogSink sink, ErrorLines errors) {
  SinkState& state = sink_state();
  const std::lock_guard lock(state.mutex);
  set_default_locked(state, level, std::move(sink), errors);
}

void print_errors_by_default() {
  SinkState& state = sink_state();
  const std::lock_guard lock(state.mutex);
  if (!state.has_default)
    set_default_locked(state, LogLevel::kError, log_to_stderr, ErrorLines::kOncePerReason);
}

bool log_enabled(LogLevel level) noexcept {
  return static_cast<int>(level) <= sink_state().level.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view component, std::string_view line) noexcept {
  if (!log_enabled(level)) return;
  SinkState& state = sink_state();
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;  // the sink's environment; the caller's is restored
  try {
    std::unique_lock lock(state.mutex, std::defer_lock);
    // In a forked child the mutex may be locked for ever, by a thread of the parent: the line is
    // lost then.
    if (!is_forked_child())
      lock.lock();
    else if (!lock.try_lock())
      return;
    if (!state.sink) return;
    if (level == LogLevel::kError && !is_wanted(state, component, line)) return;
    with_printable(line, [&](std::string_view text) { state.sink(level, component, text); });
  } catch (...) {
    // The line is lost. Logging must not terminate the program.
    return;
  }
}

}  // namespace millrace
