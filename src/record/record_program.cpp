#include "record/record_program.h"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>

#include "base/log.h"
#include "base/settings/environment.h"
#include "record/record_state.h"

namespace millrace::record {
namespace {

constexpr const char* kVariable = "MILLRACE_RECORD";
constexpr const char* kLimitVariable = "MILLRACE_RECORD_LIMIT";
constexpr const char* kInputsVariable = "MILLRACE_RECORD_INPUTS";
constexpr uint64_t kUsualMebibytes = 1024, kMostMebibytes = uint64_t{1} << 30;
constexpr int kMebibyteShift = 20;

// The path is made absolute, since the program may change its working directory.
std::string folder_of(std::string_view text) {
  std::string path(text);
  const std::string process = std::to_string(::getpid());
  for (size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at))
    path.replace(at, 2, process);
  std::error_code ignored;  // then the path stays as it is
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  return ignored ? path : whole.string();
}

Status begin() {
  const std::string_view folder = environment_variable(kVariable);
  if (folder.empty()) return {};
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t mebibytes,
                            number_variable(kLimitVariable, kUsualMebibytes, 1, kMostMebibytes));
  MILLRACE_ASSIGN_OR_RETURN(const bool keeps_tensors, switch_variable(kInputsVariable, true));
  return start_recording({folder_of(folder), mebibytes << kMebibyteShift, keeps_tensors});
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
