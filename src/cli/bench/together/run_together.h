// Runs several models at the same time, each with a load of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

struct SharedLoad {
  Workload workload;      // with a duration
  double per_second = 0;  // mean rate of Poisson arrivals; 0: an offline run
  uint32_t priority = 0;
};

struct SharedRun {
  std::vector<Measurement> models;  // in the order of the loads
  double seconds = 0;               // until the last job of any model
  double processor_seconds = 0;
};

// Warms up one model after the other, and then measures all of them at once, each on a thread of
// its own. Arrivals of load i have the seed `seed` + i. Jobs give way to those of a
// higher priority (precedence.h) until the duration is over; jobs that still wait then run all the
// same. Blocks the calling thread until the last job is done. Returns the status of the first job
// that fails, by the order of the loads.
Result<SharedRun> run_together(const std::vector<SharedLoad>& loads, uint64_t seed);

}  // namespace millrace::cli
