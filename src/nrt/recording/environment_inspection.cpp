#include "nrt/recording/environment_inspection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/log.h"
#include "nrt/recording/inspection.h"

namespace millrace::nrt::trace {
namespace {

void warn(const std::string& what) {
  log(LogLevel::kWarning, "nrt", what);
}

// Returns the path of the next profile in the directory. It is absolute, since the program may
// change its working directory before nrt_close, and contains a count, since the program may start
// the runtime again.
std::string next_file_in(const std::string& directory) {
  static std::atomic<unsigned> count{0};
  std::error_code ignored;  // then the path stays as it is
  const std::filesystem::path whole = std::filesystem::absolute(directory, ignored);
  return system_profile_in(ignored ? directory : whole.string(),
                           fmt::format("{}_{}", ::getpid(), ++count));
}

}  // namespace

EnvironmentInspection::EnvironmentInspection(const EnvironmentProfile& profile) noexcept {
  try {
    if (profile.directory.empty()) return;
    if (!profile.unknown_types.empty())
      warn(
          fmt::format("NEURON_RT_INSPECT_EVENT_FILTER_TYPE: there are no event types {} "
                      "(nrt_sys_trace_get_event_types lists all)",
                      fmt::join(profile.unknown_types, ", ")));
    const std::string file = next_file_in(profile.directory);
    const Status begun = Inspection::of_process().begin(file, profile.capture);
    if (begun.ok())
      file_ = file;
    else
      warn(fmt::format("NEURON_RT_INSPECT_ENABLE: no profile is recorded: {}", begun.message()));
  } catch (const std::exception&) {
    // The program continues without the profile, as it does when the file cannot be written.
  }
}

EnvironmentInspection::~EnvironmentInspection() {
  if (file_.empty()) return;
  try {
    if (const Status written = Inspection::of_process().end_for_good(file_); !written.ok())
      warn(fmt::format("NEURON_RT_INSPECT_ENABLE: the profile is lost: {}", written.message()));
  } catch (const std::exception&) {
    // Memory for the warning is exhausted; nrt_close continues without it.
  }
}

}  // namespace millrace::nrt::trace
