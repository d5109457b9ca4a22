// The server scenario: jobs come at times that do not depend on how busy the server is.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

struct ServerLoad {
  double per_second = 0;  // the mean rate of arrivals, more than zero
  uint64_t seed = 1;
};

// Issues jobs at the times of Poisson arrivals, and counts the latency of each from the time at
// which it was to be issued until its callback, so that a job that has to wait for a slot is late,
// not left out. Called by one thread, which it blocks until the last job is done. Fails with the
// first job that fails, and with kInvalidArgument where there would be too many of them.
Result<Measurement> run_server(const Workload& workload, const ServerLoad& load);

}  // namespace millrace::cli
