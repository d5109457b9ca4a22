// Inspection: the session of developer tools that records a system profile.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nrt/recording/recording.h"

namespace millrace::nrt::trace {

// The file of a session in its directory.
std::string system_profile_in(const std::string& directory, std::string_view session);

// Any thread.
class Inspection {
 public:
  // There is one session at a time. Never destroyed: a program may exit while it records.
  static Inspection& of_process();

  // Ends the session before, and begins one that is to go to the file. kIoError, and nothing has
  // changed, when one of the two cannot be written; directories are made.
  Status begin(const std::string& file, const Capture& capture);
  // Writes what was recorded, if anything was to be. When it cannot be written, it goes on.
  Status end();
  // Ends a session that goes to the file; without one of it, does nothing. Ends it also when it
  // cannot be written.
  Status end_for_good(const std::string& file);

 private:
  Status finish();

  std::mutex mutex_;
  Recording recording_;
  std::string file_;  // of the session; empty without one
};

}  // namespace millrace::nrt::trace
