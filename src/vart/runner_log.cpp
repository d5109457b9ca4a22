#include "vart/runner_log.h"

#include <fmt/format.h>

#include "vart/status_code.h"

namespace millrace::vartml {

void RunnerLog::write(LogLevel level, std::string_view line) const {
  if (!enabled(level)) return;
  (prints() ? log_to_stderr : log)(level, "vart", fmt::format("{}: {}", name_, line));
}

::vart::StatusCode RunnerLog::report(::vart::StatusCode code, std::string_view reason) const {
  write(LogLevel::kError, fmt::format("{}: {}", to_string(code), reason));
  return code;
}

::vart::StatusCode RunnerLog::code_of(const Status& job) const {
  const ::vart::StatusCode code = to_status_code(job.code());
  const bool told = code == ::vart::StatusCode::SUCCESS || code == ::vart::StatusCode::JOB_PENDING;
  return told ? code : report(code, job.message());
}

}  // namespace millrace::vartml
