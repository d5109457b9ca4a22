// Cleans up when INT, TERM or HUP ends the program while it writes.
#pragma once

#include <csignal>
#include <thread>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::cli {

// While an object exists, those signals end the process as they would without it, after what is
// written has been removed. A signal that the process ignores stays ignored. One object at a time,
// on a thread that is the only one that does not block the signals: threads of the library do.
class CleanInterruption {
 public:
  // kResourceExhausted when there is no thread or descriptor for it; kOutOfMemory.
  Status start();
  CleanInterruption() = default;
  CleanInterruption(const CleanInterruption&) = delete;
  CleanInterruption& operator=(const CleanInterruption&) = delete;
  ~CleanInterruption();

 private:
  sigset_t before_{};
  UniqueFd signals_, stop_;
  std::thread thread_;
};

}  // namespace millrace::cli
