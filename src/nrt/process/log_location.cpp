#include "nrt/process/log_location.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>
#include <syslog.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/files/known_file.h"
#include "base/files/output_target.h"
#include "base/files/own_descriptor.h"
#include "base/settings/environment.h"

namespace millrace::nrt {
namespace {

int priority_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kError:
      return LOG_ERR;
    case LogLevel::kWarning:
      return LOG_WARNING;
    case LogLevel::kInfo:
      return LOG_INFO;
    case LogLevel::kDebug:
      break;
  }
  return LOG_DEBUG;
}

// Does not call openlog(), which would change the syslog settings of the whole program.
void log_to_syslog(LogLevel level, std::string_view component, std::string_view line) {
  syslog(LOG_USER | priority_of(level), "%s", fmt::format("{}: {}", component, line).c_str());
}

// Opens the log file for appending. A FIFO is opened for reading as well: then opening it does not
// wait for a reader, and writing does not raise SIGPIPE when the reader has gone. Since writes do
// not block, lines are lost while the FIFO is full.
Result<UniqueFd> open_log(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const OutputTarget target, output_target(path));
  struct stat there {};
  const bool fifo = ::stat(path.c_str(), &there) == 0 && S_ISFIFO(there.st_mode);
  constexpr int kCommon = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  UniqueFd opened = own_descriptor(
      fifo ? ::open(target.path.c_str(), O_RDWR | kCommon)
           : ::open(target.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | kCommon, 0644));
  if (!opened) return io_error("cannot open", errno);
  return opened;
}

LogLocation file(const std::string& path) {
  Result<UniqueFd> opened = open_log(path);
  if (!opened.ok())
    return {log_to_stderr,
            fmt::format("{}: {}: {}", kLogLocationOfNrt, path, opened.status().message()), true};
  // The file is shared because sinks are copied.
  return {[log = std::make_shared<KnownFile>(*std::move(opened))](
              LogLevel level, std::string_view component, std::string_view line) {
            log_to_file(*log, level, component, line);
          },
          {},
          true};
}

}  // namespace

LogLocation log_location() {
  const bool own = !environment_variable(kLogLocationOfNrt).empty();
  const std::string text(environment_variable(own ? kLogLocationOfNrt : kLogLocation));
  if (text.empty()) return {log_to_stderr, {}, false};
  if (strcasecmp(text.c_str(), "console") == 0) return {log_to_stderr, {}, true};
  if (strcasecmp(text.c_str(), "syslog") == 0) return {log_to_syslog, {}, true};
  if (own) return file(text);
  return {log_to_stderr,
          fmt::format("{} is \"{}\", but must be console or syslog (only {} may name a "
                      "file): logging to standard error",
                      kLogLocation, text, kLogLocationOfNrt),
          true};
}

}  // namespace millrace::nrt
