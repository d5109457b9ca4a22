// DebugStreams: the connections of debuggers to cores, at most one per core. The software NPU
// produces no debug events, so the streams are always empty. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::nrt {

class DebugStreams {
 public:
  // Returns a descriptor to poll, which this object owns until disconnect(). kInvalidArgument when
  // the core has a client already; kIoError when the process has no descriptor left.
  Result<int> connect(int core);
  // Closes the stream; false for a descriptor that is not an open stream.
  bool disconnect(int stream);
  bool is_connected(int stream);

 private:
  std::mutex mutex_;
  std::map<int, UniqueFd> streams_;  // by core
};

}  // namespace millrace::nrt
