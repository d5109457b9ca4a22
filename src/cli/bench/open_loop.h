// Runs the server scenario of MLPerf Inference: an open loop, in which the arrival times of jobs do
// not depend on how busy the server is.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

struct ServerLoad {
  double per_second = 0;  // the mean rate of arrivals, more than zero
  uint64_t seed = 1;
};

// Issues jobs at the times of Poisson arrivals. The latency of a job is the time from its scheduled
// arrival until its callback, also if it has to wait for a free slot, so that there is no
// coordinated omission when the server is overloaded. Blocks the calling thread until the last job
// is done. Returns the status of the first job that fails; kInvalidArgument if there would be more
// than ten million jobs.
Result<Measurement> run_server(const Workload& workload, const ServerLoad& load);

// Runs the scenario (closed_loops.h); `load` is that of the server scenario.
Result<Measurement> measure(Scenario scenario, const Workload& workload, const ServerLoad& load);

}  // namespace millrace::cli
