#include "nrt/recording/life_inspection.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <system_error>

#include "base/environment.h"
#include "base/log.h"
#include "nrt/recording/inspection.h"

namespace millrace::nrt::trace {
namespace {

void warn(const std::string& what) {
  log(LogLevel::kWarning, "nrt", what);
}

// A process may start the runtime again, and programs may change their directory meanwhile.
std::string next_file_in(const std::string& directory) {
  static std::atomic<unsigned> lives{0};
  std::error_code ignored;  // then the path stays as it is
  const std::filesystem::path whole = std::filesystem::absolute(directory, ignored);
  return system_profile_in(ignored ? directory : whole.string(),
                           fmt::format("{}_{}", ::getpid(), ++lives));
}

void warn_of_other_profiles() {
  for (const char* name : {"NEURON_RT_INSPECT_DEVICE_PROFILE", "NEURON_RT_INSPECT_ON_FAIL"})
    if (const Result<bool> wanted = switch_variable(name, false); !wanted.ok() || *wanted)
      warn(fmt::format("{} has no effect: of the inspections there is only the system profile",
                       name));
}

}  // namespace

LifeInspection::LifeInspection(const std::string& directory) noexcept {
  try {
    warn_of_other_profiles();
    if (directory.empty()) return;
    const std::string file = next_file_in(directory);
    const Status begun = Inspection::of_process().begin(file, {});
    if (begun.ok())
      file_ = file;
    else
      warn(fmt::format("NEURON_RT_INSPECT_ENABLE: nothing is recorded: {}", begun.message()));
  } catch (const std::exception&) {
    // Without memory for it the program goes on, as it does without a place.
  }
}

LifeInspection::~LifeInspection() {
  if (file_.empty()) return;
  try {
    if (const Status written = Inspection::of_process().end_for_good(file_); !written.ok())
      warn(fmt::format("NEURON_RT_INSPECT_ENABLE: the profile is lost: {}", written.message()));
  } catch (const std::exception&) {
    // The runtime ends all the same.
  }
}

}  // namespace millrace::nrt::trace
