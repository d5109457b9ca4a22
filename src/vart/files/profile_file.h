// ProfileFile: the file that ai_analyzer_profiling asks for; docs/vart.md says what is in it.
#pragma once

#include <memory>
#include <string>

#include "runtime/loading/loader.h"
#include "runtime/loading/profile.h"
#include "vart/runner_log.h"

namespace millrace::vartml {

class ProfileFile {
 public:
  // In `directory`, which is made where it is missing; empty: the current directory of this moment.
  // A name that no other has in this process. Nothing is created before write().
  ProfileFile(runtime::LoadedProgram loaded, const std::string& directory);

  // For the session whose jobs are to be recorded.
  std::shared_ptr<runtime::Profile> profile() const noexcept { return profile_; }

  // Writes what was recorded so far. The log says where, or why not.
  void write(const RunnerLog& log) const noexcept;

 private:
  std::string text() const;
  Status write_file() const;

  const runtime::LoadedProgram loaded_;
  const std::shared_ptr<runtime::Profile> profile_;
  const std::string path_;
};

}  // namespace millrace::vartml
