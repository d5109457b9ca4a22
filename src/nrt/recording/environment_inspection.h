// EnvironmentInspection: the inspection session that environment variables (NEURON_RT_INSPECT_*)
// request. It lasts from nrt_init to nrt_close.
#pragma once

#include <string>
#include <vector>

#include "nrt/recording/event_log.h"

namespace millrace::nrt::trace {

// The profile that the environment requests.
struct EnvironmentProfile {
  std::string directory;  // of the files; empty: no profile
  Capture capture;
  std::vector<std::string> unknown_types;  // names in the filter that no event type has
};

class EnvironmentInspection {
 public:
  // Begins to record a system profile, unless the directory is empty. Logs a warning when no file
  // can be written there, and one that names the unknown event types.
  explicit EnvironmentInspection(const EnvironmentProfile& profile) noexcept;
  // Writes the profile, unless the program has ended or replaced the session. Logs a warning when
  // the file cannot be written.
  ~EnvironmentInspection();
  EnvironmentInspection(const EnvironmentInspection&) = delete;
  EnvironmentInspection& operator=(const EnvironmentInspection&) = delete;

 private:
  std::string file_;  // empty when nothing is recorded
};

}  // namespace millrace::nrt::trace
