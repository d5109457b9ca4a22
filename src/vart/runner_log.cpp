#include "vart/runner_log.h"

#include <exception>
#include <iterator>

#include "vart/status_code.h"

namespace millrace::vartml {

// Every failed job is logged, so lines of usual length are formatted without a heap allocation
// (fmt::memory_buffer has inline storage).
void RunnerLog::write_line(LogLevel level, fmt::string_view format,
                           fmt::format_args args) const noexcept {
  try {
    fmt::memory_buffer line;
    fmt::format_to(std::back_inserter(line), "{}: ", name_);
    fmt::vformat_to(std::back_inserter(line), format, args);
    (prints(level) ? log_to_stderr : log)(level, "vart", {line.data(), line.size()});
  } catch (const std::exception&) {
    log(level, "vart", "a log line could not be formatted: out of memory");
  }
}

::vart::StatusCode RunnerLog::report(::vart::StatusCode code,
                                     std::string_view reason) const noexcept {
  write_format(LogLevel::kError, "{}: {}", to_string(code), reason);
  return code;
}

::vart::StatusCode RunnerLog::code_of(const Status& job) const noexcept {
  const ::vart::StatusCode code = to_status_code(job.code());
  // A full queue and a pending job are expected: programs submit until the queue is full, and poll.
  const bool failed = code != ::vart::StatusCode::SUCCESS &&
                      code != ::vart::StatusCode::JOB_PENDING &&
                      code != ::vart::StatusCode::RESOURCE_UNAVAILABLE;
  return failed ? report(code, job.message()) : code;
}

}  // namespace millrace::vartml
