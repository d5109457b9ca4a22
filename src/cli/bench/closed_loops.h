// The scenarios in which the next query waits for an earlier one. Called by one thread, which they
// block until the last job is done. They fail with the first job that fails.
#pragma once

#include "base/status.h"
#include "cli/bench/workload.h"

namespace millrace::cli {

// One job after another, each by the calling thread where it may run them (Session::execute).
Result<Measurement> run_single_stream(const Workload& workload);

// Queries of as many jobs as there are slots.
Result<Measurement> run_multi_stream(const Workload& workload);

// Keeps every slot in flight. Results are collected in the order of submission, and the latency of
// a job is the time from its submission until then.
Result<Measurement> run_offline(const Workload& workload);

// Runs the jobs before the measured ones, as many at a time as there are slots, so that every lane
// that will be used has run one.
Status warm_up_together(const Workload& workload);

// Runs more jobs as that scenario does and counts their heap allocations. Nothing is timed.
Result<Allocations> count_allocations(Scenario scenario, const Workload& workload);

}  // namespace millrace::cli
