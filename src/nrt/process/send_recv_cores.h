// SendRecvCores: the cores of the host that are open for sends and receives. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "base/status.h"

namespace millrace::nrt {

class SendRecvCores {
 public:
  // kInvalidArgument for a core that the host does not have, or that is open already.
  Status open(int core);
  // kInvalidArgument for a core that is not open.
  Status close(int core);
  Status check_open(int core);

 private:
  std::mutex mutex_;
  std::set<int> open_;
};

}  // namespace millrace::nrt
