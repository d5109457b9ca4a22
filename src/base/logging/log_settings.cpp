#include "base/logging/log_settings.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/files/standard_error.h"
#include "base/logging/log_file.h"
#include "base/logging/log_line.h"
#include "base/same_text.h"
#include "base/settings/environment.h"
#include "base/settings/process_path.h"

namespace millrace {
namespace {

constexpr const char* kLogFile = "MILLRACE_LOG_FILE";
constexpr const char* kLogFormat = "MILLRACE_LOG_FORMAT";

void warn(const std::string& text) {
  log_to_stderr(LogLevel::kWarning, "log", text);
}

LogLevel level_of(std::string_view wanted) {
  if (wanted.empty()) return LogLevel::kInfo;  // only a file is named
  const std::optional<LogLevel> known = parse_log_level(wanted);
  if (!known)
    warn(
        fmt::format("MILLRACE_LOG is \"{}\", but must be error, warning, info, debug or off: "
                    "using warning",
                    wanted));
  return known.value_or(LogLevel::kWarning);
}

LogFormat format_or(LogFormat otherwise) {
  const std::string_view wanted = environment_variable(kLogFormat);
  if (wanted.empty()) return otherwise;
  const std::optional<LogFormat> known = parse_log_format(wanted);
  if (!known)
    warn(fmt::format("{} is \"{}\", but must be plain, full or json", kLogFormat, wanted));
  return known.value_or(otherwise);
}

LogSink stderr_sink(LogFormat format) {
  if (format == LogFormat::kPlain) return log_to_stderr;
  return [format](LogLevel level, std::string_view component, std::string_view line) {
    write_standard_error(log_line(format, level, component, line));
  };
}

LogSink file_sink(std::string_view name) {
  auto file = LogFile::open(process_path(name));
  if (!file.ok()) {
    warn(fmt::format("{} is \"{}\", which {}: lines go to standard error", kLogFile, name,
                     file.status().message()));
    return stderr_sink(format_or(LogFormat::kPlain));
  }
  const std::shared_ptr<LogFile> log = std::move(*file);
  return [log, format = format_or(LogFormat::kFull)](LogLevel level, std::string_view component,
                                                     std::string_view line) {
    log->write(log_line(format, level, component, line));
  };
}

}  // namespace

LogSettings log_settings() {
  const std::string_view level = environment_variable("MILLRACE_LOG"),
                         file = environment_variable(kLogFile);
  LogSettings settings;
  settings.chosen = !level.empty() || !file.empty();
  if (!settings.chosen || same_text(level, "off")) return settings;
  settings.level = level_of(level);
  settings.sink = file.empty() ? stderr_sink(format_or(LogFormat::kPlain)) : file_sink(file);
  return settings;
}

}  // namespace millrace
