// CleanInterruption removes temporary files when SIGINT, SIGTERM or SIGHUP ends the program while
// it writes: it blocks the signals, and a thread of its own takes them from a signalfd.
#pragma once

#include <csignal>
#include <thread>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::cli {

// From start() to the destructor, these signals still end the process, but only after the temporary
// files of outputs have been removed. A signal that the process ignores or handles is left alone.
// There may be one object at a time, on the only thread that does not block the signals; Millrace's
// own threads block them.
class CleanInterruption {
 public:
  // Begins to watch for the signals. kResourceExhausted if there is no thread or descriptor for it;
  // kOutOfMemory.
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
