// LifeInspection: the inspection that the environment asks for, as long as the runtime lives.
#pragma once

#include <string>

namespace millrace::nrt::trace {

class LifeInspection {
 public:
  // Records a system profile, if there is a directory for it. Warns when nothing can be written
  // there, and when the environment asks for profiles that there are not.
  explicit LifeInspection(const std::string& directory) noexcept;
  // Writes it, unless the program has ended or replaced it. Warns when it is lost.
  ~LifeInspection();
  LifeInspection(const LifeInspection&) = delete;
  LifeInspection& operator=(const LifeInspection&) = delete;

 private:
  std::string file_;  // empty when nothing is recorded
};

}  // namespace millrace::nrt::trace
