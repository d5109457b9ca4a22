// EnvironmentInspection: the inspection session that environment variables (NEURON_RT_INSPECT_*)
// request. It lasts from nrt_init to nrt_close.
#pragma once

#include <string>

namespace millrace::nrt::trace {

class EnvironmentInspection {
 public:
  // Begins to record a system profile, unless `directory` is empty. Logs a warning when no file can
  // be written there, and when the environment requests an unsupported kind of profile.
  explicit EnvironmentInspection(const std::string& directory) noexcept;
  // Writes the profile, unless the program has ended or replaced the session. Logs a warning when
  // the file cannot be written.
  ~EnvironmentInspection();
  EnvironmentInspection(const EnvironmentInspection&) = delete;
  EnvironmentInspection& operator=(const EnvironmentInspection&) = delete;

 private:
  std::string file_;  // empty when nothing is recorded
};

}  // namespace millrace::nrt::trace
