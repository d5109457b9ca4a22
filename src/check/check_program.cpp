#include "check/check_program.h"

#include <cstdlib>
#include <exception>
#include <mutex>

#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/settings/environment.h"
#include "base/settings/process_path.h"
#include "check/check.h"
#include "check/check_state.h"

namespace millrace::check {
namespace {

constexpr const char* kVariable = "MILLRACE_CHECK";
constexpr const char* kCallbackVariable = "MILLRACE_CHECK_CALLBACK_MS";
constexpr uint64_t kUsualCallbackMs = 10, kLongestCallbackMs = 3'600'000;
constexpr int64_t kNsPerMs = 1'000'000;

// Starts the checker if the environment asks for it, or the program has (`asked`), and reads what
// the environment says about it.
Status begin(bool asked) {
  const std::string_view value = environment_variable(kVariable);
  const bool is_named = !value.empty() && value != "0";
  if (!is_named && !asked) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      const uint64_t slow,
      number_variable(kCallbackVariable, kUsualCallbackMs, 1, kLongestCallbackMs));
  checker().slow_callback_ns = static_cast<int64_t>(slow) * kNsPerMs;
  if (is_named) checker().reporter.show_without_log();
  if (is_named && value != "1")
    MILLRACE_RETURN_IF_ERROR(checker().reporter.append_to(process_path(value)));
  MILLRACE_RETURN_IF_ERROR(start_checking());
  if (std::atexit(end_checking) != 0)
    return {StatusCode::kOutOfMemory, "jobs that are never waited for are not found"};
  return {};
}

Status begin_once(bool asked) {
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (on()) return {};
  return begin(asked);
}

}  // namespace

void check_program() noexcept {
  static std::once_flag begun;
  try {
    std::call_once(begun, [] {
      if (const Status status = begin_once(false); !status.ok())
        log_format(LogLevel::kError, "check", "{}: {}", kVariable, status.message());
    });
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on without a checker.
  }
}

Status start_for_program() {
  if (is_forked_child()) return forked_status();
  return begin_once(true);
}

std::vector<ProgramFinding> findings_of_program() {
  std::vector<ProgramFinding> findings;
  for (Found& found : checker().reporter.findings())
    findings.push_back({name_of(found.finding.hazard), remedy_of(found.finding.hazard),
                        found.finding.message, json_of(found.finding), found.occurrences});
  return findings;
}

}  // namespace millrace::check
