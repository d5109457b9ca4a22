#include "record/record_program.h"

#include <exception>
#include <mutex>

#include "base/log.h"
#include "base/settings/environment.h"
#include "base/settings/process_path.h"
#include "record/record_state.h"

namespace millrace::record {
namespace {

constexpr const char* kVariable = "MILLRACE_RECORD";
constexpr const char* kLimitVariable = "MILLRACE_RECORD_LIMIT";
constexpr const char* kInputsVariable = "MILLRACE_RECORD_INPUTS";
constexpr uint64_t kUsualMebibytes = 1024, kMostMebibytes = uint64_t{1} << 30;
constexpr int kMebibyteShift = 20;

Status begin() {
  const std::string_view folder = environment_variable(kVariable);
  if (folder.empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t mebibytes,
                            number_variable(kLimitVariable, kUsualMebibytes, 1, kMostMebibytes));
  MILLRACE_ASSIGN_OR_RETURN(const bool keeps_tensors, switch_variable(kInputsVariable, true));
  return start_recording({process_path(folder), mebibytes << kMebibyteShift, keeps_tensors});
}

}  // namespace

void record_program() noexcept {
  static std::once_flag begun;
  try {
    std::call_once(begun, [] {
      if (const Status status = begin(); !status.ok())
        log_format(LogLevel::kError, "record", "{}: nothing is recorded: {}", kVariable,
                   status.message());
    });
  } catch (const std::exception&) {
    // Memory is exhausted; the program goes on without a record.
  }
}

}  // namespace millrace::record
