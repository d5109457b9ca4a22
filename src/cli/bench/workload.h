// Workload: the jobs that every scenario runs, and for how long. One thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "cli/bench/measurement.h"
#include "cli/bench/together/precedence.h"
#include "cli/inputs/job_buffers.h"
#include "runtime/session.h"

namespace millrace::cli {

// A slow model needs no more, whatever the number of jobs.
inline constexpr std::chrono::nanoseconds kWarmUpTime = std::chrono::seconds(2);

struct Workload {
  runtime::Session& session;
  std::span<const JobBuffers> slots;     // one for each job in flight; at least one
  uint32_t warmup = 0;                   // jobs before the measured ones, at most for kWarmUpTime
  uint32_t jobs = 0;                     // number of measured jobs, if there is no duration
  std::chrono::nanoseconds duration{0};  // time for which jobs are issued; zero: `jobs` instead

  // Set when the user wants the run to end; null: never.
  const std::atomic<bool>* ended = nullptr;

  bool shows_progress = true;
  // For several models at the same time: jobs give way to those of a higher priority; null: there
  // are no others.
  Precedence* precedence = nullptr;
  uint32_t priority = 0;

  // Whether a job would be issued at once.
  bool may_issue() const;
  // Waits until a job may be issued or the duration, which began at `start_ns`, is over. leave() is
  // to be called when that job is done.
  void enter(int64_t start_ns) const;
  void leave() const;

  // Whether a run that has issued so many jobs in this time is to issue no more. A run with a
  // duration, and one that is ended, issues at least one.
  bool complete(uint64_t issued, int64_t elapsed_ns) const;
  // Whether the jobs before the measured ones are complete, by limits of the same kind.
  bool is_warm(uint64_t issued, int64_t elapsed_ns) const;
};

// Returns the default number of jobs in flight. That of a server is large enough that lanes do not
// wait for the thread that issues jobs.
uint32_t default_in_flight(Scenario scenario, uint32_t lanes);

// Adds the scenario and the number of the job, from 1, to the message of a failure.
Status failed_in(Scenario scenario, uint64_t job, const Status& status);

// Measures figures of a whole run: time, processor time, bytes copied.
class Meter {
 public:
  explicit Meter(const Workload& workload);  // starts
  int64_t start_ns() const { return start_ns_; }
  int64_t elapsed_ns() const;
  // Writes the figures since the construction to `measurement`.
  void read(Measurement& measurement) const;

 private:
  const runtime::Session& session_;
  uint64_t copied_before_;
  double processor_before_;
  int64_t start_ns_;
};

}  // namespace millrace::cli
