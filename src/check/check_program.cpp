#include "check/check_program.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

#include "base/log.h"
#include "base/settings/environment.h"
#include "check/check_state.h"

namespace millrace::check {
namespace {

constexpr const char* kVariable = "MILLRACE_CHECK";
constexpr const char* kCallbackVariable = "MILLRACE_CHECK_CALLBACK_MS";
constexpr uint64_t kUsualCallbackMs = 10, kLongestCallbackMs = 3'600'000;
constexpr int64_t kNsPerMs = 1'000'000;

// The path is made absolute, since the program may change its working directory.
std::string path_of(std::string_view text) {
  std::string path(text);
  const std::string process = std::to_string(::getpid());
  for (size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
    path.replace(at, 2, process);
  std::error_code ignored;  // then the path stays as it is
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  return ignored ? path : whole.string();
}

Status begin() {
  const std::string_view value = environment_variable(kVariable);
  if (value.empty() || value == "0") return {};
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t slow,
      number_variable(kCallbackVariable, kUsualCallbackMs, 1, kLongestCallbackMs));
  checker().slow_callback_ns = static_cast<int64_t>(slow) * kNsPerMs;
  if (value != "1") MILLRACE_RETURN_IF_ERROR(checker().reporter.append_to(path_of(value)));
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
