// Inspection: the session of developer tools that records a system profile.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nrt/recording/recording.h"

namespace millrace::nrt::trace {

// The path of the file of a session, in its directory.
std::string system_profile_in(const std::string& directory, std::string_view session);

// Thread-safe.
class Inspection {
 public:
  // The one session of the process. Never destroyed, since a program may exit while it records.
  static Inspection& of_process();

  // Ends the running session, and begins one that will be written to `file`, whose directory is
  // made. kIoError, and nothing has changed, when either file cannot be written.
  Status begin(const std::string& file, const Capture& capture);
  // Writes the file of the running session, if there is one. The session goes on when the file
  // cannot be written.
  Status end();
  // Ends the session of that file even when the file cannot be written; does nothing when another
  // session, or none, runs.
  Status end_for_good(const std::string& file);

 private:
  Status finish();

  std::mutex mutex_;
  Recording recording_;
  std::string file_;  // of the session; empty without one
};

}  // namespace millrace::nrt::trace
