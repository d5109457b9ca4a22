// Runs the closed-loop scenarios of MLPerf Inference, in which a query is issued when an earlier
// one is done: single-stream, multi-stream and offline. Each function blocks the calling thread
// until the last job is done, and returns the status of the first job that fails.
#pragma once

#include "base/status.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

// Runs one job after another by Session::execute(), which may run them on the calling thread.
Result<Measurement> run_single_stream(const Workload& workload);

// Runs queries of as many jobs as there are slots; all jobs of a query are in flight together.
Result<Measurement> run_multi_stream(const Workload& workload);

// Keeps a job in flight for every slot. Results are collected in the order of submission, and the
// latency of a job is the time from its submission until its result is collected.
Result<Measurement> run_offline(const Workload& workload);

// Runs the jobs before the measured ones, as many at a time as there are slots, so that every lane
// that will be used has run one.
Status warm_up_together(const Workload& workload);

// Runs at least 16 more jobs, one at a time for single-stream and otherwise as many at a time as
// there are slots, and counts their heap allocations. Nothing is timed.
Result<Allocations> count_allocations(Scenario scenario, const Workload& workload);

}  // namespace millrace::cli
