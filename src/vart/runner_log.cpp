#include "vart/runner_log.h"

#include <fmt/format.h>

#include <iterator>

#include "vart/status_code.h"

namespace millrace::vartml {

namespace {

std::string_view view(const fmt::memory_buffer& text) noexcept {
  return {text.data(), text.size()};
}

}  // namespace

// Jobs that fail again and again come here each time: lines of usual length take no memory.
void RunnerLog::write(LogLevel level, std::string_view line) const {
  if (!enabled(level)) return;
  fmt::memory_buffer named;
  fmt::format_to(std::back_inserter(named), "{}: {}", name_, line);
  (prints() ? log_to_stderr : log)(level, "vart", view(named));
}

::vart::StatusCode RunnerLog::report(::vart::StatusCode code, std::string_view reason) const {
  fmt::memory_buffer line;
  fmt::format_to(std::back_inserter(line), "{}: {}", to_string(code), reason);
  write(LogLevel::kError, view(line));
  return code;
}

::vart::StatusCode RunnerLog::code_of(const Status& job) const {
  const ::vart::StatusCode code = to_status_code(job.code());
  const bool failed =
      code != ::vart::StatusCode::SUCCESS && code != ::vart::StatusCode::JOB_PENDING;
  return failed ? report(code, job.message()) : code;
}

}  // namespace millrace::vartml
