// Workload: what every scenario runs, and for how long.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "cli/bench/measurement.h"
#include "cli/inputs/job_buffers.h"
#include "runtime/session.h"

namespace millrace::cli {

struct Workload {
  runtime::Session& session;
  std::span<const JobBuffers> slots;     // one for each job in flight; at least one
  uint32_t warmup = 0;                   // jobs before the measured ones
  uint32_t jobs = 0;                     // that are measured, where there is no duration
  std::chrono::nanoseconds duration{0};  // jobs are issued for so long, one at least; zero: `jobs`

  // Whether a run that has issued so many jobs within so long is to issue no more.
  bool complete(uint64_t issued, int64_t elapsed_ns) const;
};

// How many jobs are in flight in a scenario where nobody says. A server has enough for a lane never
// to wait for the thread that issues them.
uint32_t default_in_flight(Scenario scenario, uint32_t lanes);

// A failure of a job, with the scenario and the number of the job, from 1.
Status failed_in(Scenario scenario, uint64_t job, const Status& status);

// Measures what a run takes besides the times of its jobs.
class Meter {
 public:
  explicit Meter(const Workload& workload);  // starts
  int64_t start_ns() const { return start_ns_; }
  int64_t elapsed_ns() const;
  // Ends: fills what is measured for the whole run.
  void read(Measurement& measurement) const;

 private:
  const runtime::Session& session_;
  uint64_t copied_before_;
  double processor_before_;
  int64_t start_ns_;
};

}  // namespace millrace::cli
