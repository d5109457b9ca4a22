// SendRecvCores: the cores of the host that are open for sends and receives. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>

#include "base/status.h"

namespace millrace::nrt {

class SendRecvCores {
 public:
  // kInvalidArgument for a core that the host has not, for one that is open, or one that is not.
  Status open(int core);
  Status close(int core);
  Status check_open(int core);

 private:
  std::mutex mutex_;
  std::set<int> open_;
};

}  // namespace millrace::nrt
