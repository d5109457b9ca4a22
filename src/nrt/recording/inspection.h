// Inspection: the inspection session of the process, which records a system profile. At most one
// session runs at a time.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nrt/recording/recording.h"

namespace millrace::nrt::trace {

// Returns the path of the profile of a session: "system_profile_<session>.json" in the directory.
std::string system_profile_in(const std::string& directory, std::string_view session);

// Thread-safe.
class Inspection {
 public:
  // Returns the only object in the process. It is never destroyed, since a program may exit while
  // it records.
  static Inspection& of_process();

  // Ends the running session, if any, and begins one that will be written to `file`. Creates the
  // directory of the file. kIoError when either file cannot be written: the running session then
  // continues.
  Status begin(const std::string& file, const Capture& capture);
  // Ends the running session, if any, and writes its file. The session continues when the file
  // cannot be written.
  Status end();
  // Ends the session of `file` even if the file cannot be written. Does nothing when that session
  // does not run.
  Status end_for_good(const std::string& file);

 private:
  Status finish();

  std::mutex mutex_;
  Recording recording_;
  std::string file_;  // the file of the running session; empty without one
};

}  // namespace millrace::nrt::trace
