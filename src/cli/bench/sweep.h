// Measures a workload several times with different loads. Each function blocks the calling thread
// until the last run is over, and returns the status of the first job that fails. A run that the
// user ends is the last one.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/bench/latency_condition.h"
#include "cli/bench/open_loop.h"
#include "cli/bench/sweep_report.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

// Sweep: the values in which the runs of a series differ. One of the lists has some.
struct Sweep {
  std::vector<uint32_t> in_flight;
  std::vector<double> per_second;  // mean rates of arrivals, for the server scenario
};

// Parses "in-flight=1,2,4" or "qps=50,100". kInvalidArgument for anything else.
Result<Sweep> parse_sweep(const std::string& text);

// Measures the workload once for each value, and adds the runs to the report. `load` is that of the
// server scenario. Requirement: there are as many slots as the greatest number in flight.
Status run_sweep(const Sweep& sweep, const ServerLoad& load, const Workload& workload,
                 SweepReport* report);

// Searches for the highest rate of arrivals at which the condition holds (rate_search.h), between
// nothing and the throughput of an offline run. A run with one job at a time comes first: if the
// condition does not hold there, no rate is tried. All of these runs are in the report.
Status find_rate(const LatencyCondition& condition, uint64_t seed, const Workload& workload,
                 SweepReport* report);

}  // namespace millrace::cli
