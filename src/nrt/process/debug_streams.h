// DebugStreams: the connections of debuggers to cores, one per core. The software NPU sends no
// events, so the streams stay empty. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::nrt {

class DebugStreams {
 public:
  // A descriptor to poll, which stays owned by this object until disconnect. kInvalidArgument when
  // the core has a client; kIoError when the process has no descriptor left.
  Result<int> connect(int core);
  // Closes the stream; false for a descriptor that is no stream.
  bool disconnect(int stream);
  bool is_connected(int stream);

 private:
  std::mutex mutex_;
  std::map<int, UniqueFd> streams_;  // by core
};

}  // namespace millrace::nrt
