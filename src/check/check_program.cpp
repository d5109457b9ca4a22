#include "check/check_program.h"

#include <cstdlib>
#include <exception>
#include <mutex>

#include "base/log.h"
#include "base/settings/environment.h"
#include "base/settings/process_path.h"
#include "check/check_state.h"

namespace millrace::check {
namespace {

constexpr const char* kVariable = "MILLRACE_CHECK";
constexpr const char* kCallbackVariable = "MILLRACE_CHECK_CALLBACK_MS";
constexpr uint64_t kUsualCallbackMs = 10, kLongestCallbackMs = 3'600'000;
constexpr int64_t kNsPerMs = 1'000'000;

Status begin() {
  const std::string_view value = environment_variable(kVariable);
  if (value.empty() || value == "0") return {};
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t slow,
      number_variable(kCallbackVariable, kUsualCallbackMs, 1, kLongestCallbackMs));
  checker().slow_callback_ns = static_cast<int64_t>(slow) * kNsPerMs;
  if (value != "1") MILLRACE_RETURN_IF_ERROR(checker().reporter.append_to(process_path(value)));
  MILLRACE_RETURN_IF_ERROR(start_checking());
  if (std::atexit(end_checking) != 0)
    return {StatusCode::kOutOfMemory, "jobs that are never waited for are not found"};
  return {};
}

}  // namespace

void check_program() noexcept {
  static std::once_flag begun;
  try {
    std::call_once(begun, [] {
      if (const Status status = begin(); !status.ok())
        log_format(LogLevel::kError, "check", "{}: {}", kVariable, status.message());
    });
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on without a checker.
  }
}

}  // namespace millrace::check
