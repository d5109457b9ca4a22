// ProfileFile: the profile that the option ai_analyzer_profiling requests, a JSON file with the
// times of each operator; docs/vart.md describes its contents.
#pragma once

#include <memory>
#include <string>

#include "runtime/loading/loader.h"
#include "runtime/loading/profile.h"
#include "vart/runner_log.h"

namespace millrace::vartml {

class ProfileFile {
 public:
  // The file will be in `directory`, or in the present working directory if that is empty, with a
  // name that is unique in this process. Nothing is created before write(), which also creates a
  // missing directory.
  ProfileFile(runtime::LoadedProgram loaded, const std::string& directory);

  // Returns the profile to pass to the session whose jobs are recorded.
  std::shared_ptr<runtime::Profile> profile() const noexcept { return profile_; }

  // Writes the file with everything recorded so far. Logs its path, or why it cannot be written.
  void write(const RunnerLog& log) const noexcept;

 private:
  std::string text() const;
  Status write_file() const;

  const runtime::LoadedProgram loaded_;
  const std::shared_ptr<runtime::Profile> profile_;
  const std::string path_;
};

}  // namespace millrace::vartml
