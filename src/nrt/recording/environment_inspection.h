// EnvironmentInspection: the inspection session that environment variables ask for, from nrt_init
// to nrt_close.
#pragma once

#include <string>

namespace millrace::nrt::trace {

class EnvironmentInspection {
 public:
  // Begins to record a system profile, unless `directory` is empty. Warns when no file can be
  // written there, and when the environment asks for kinds of profiles that do not exist here.
  explicit EnvironmentInspection(const std::string& directory) noexcept;
  // Writes the profile, unless the program has ended or replaced the session. Warns when it is
  // lost.
  ~EnvironmentInspection();
  EnvironmentInspection(const EnvironmentInspection&) = delete;
  EnvironmentInspection& operator=(const EnvironmentInspection&) = delete;

 private:
  std::string file_;  // empty when nothing is recorded
};

}  // namespace millrace::nrt::trace
