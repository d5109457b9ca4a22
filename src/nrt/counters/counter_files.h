// The counters of the processes of this user in which NRT runs, as process_counters.h publishes
// them. Thread-safe.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/status.h"
#include "nrt/counters/process_counters.h"

namespace millrace::nrt {

struct ProcessWithCounters {
  pid_t pid = 0;
  std::shared_ptr<const CounterFile> counters;  // mapped for reading, or those of this process
};

// Returns the counters of a process; they keep their last values when it ends. kNotFound if the
// runtime has not been started in it, or if it cannot be read.
Result<std::shared_ptr<const CounterFile>> counters_of(pid_t pid);

// Returns all processes whose runtime runs, this one included. Processes that cannot be read are
// omitted.
std::vector<ProcessWithCounters> processes_with_counters();

}  // namespace millrace::nrt
