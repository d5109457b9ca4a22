// DebugStreams: the connections of debuggers to cores, one per core. Nothing on the software NPU
// sends events, so the streams stay empty. Any thread.
#pragma once

#include <map>
#include <mutex>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::nrt {

class DebugStreams {
 public:
  // A descriptor to poll, ours until disconnect. kInvalidArgument when the core has a client;
  // kIoError when the system has no descriptor left.
  Result<int> connect(int core);
  // False for a descriptor that is no stream.
  bool disconnect(int stream);
  bool is_connected(int stream);

 private:
  std::mutex mutex_;
  std::map<int, UniqueFd> streams_;  // by core
};

}  // namespace millrace::nrt
