// Session: submits the jobs of one program, for the VART face and the tools. It owns a few
// execution units and gives each job to the unit with the fewest jobs in flight. Tensors that are
// bound in a view that the program does not accept are converted. The session keeps results until
// they are collected.
//
// Jobs may finish out of order (each unit is in order); callbacks are called in the order of
// submission or of completion. Thread-safe; all functions may be called from callbacks, too, and
// none is a cancellation point. In a forked child (base/process/forked_child.h) jobs are refused
// with kForked, and the destructor does nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "device/device.h"
#include "millrace/execution.hpp"
#include "runtime/columns/column_claim.h"
#include "runtime/jobs/job.h"
#include "runtime/jobs/job_mode.h"

namespace millrace::runtime {

class Profile;

inline constexpr uint32_t kMaxConcurrentRuns = 65'536;

struct SessionOptions {
  uint32_t max_concurrent_runs = 2;  // jobs accepted and not completed, 1 to kMaxConcurrentRuns
  CallbackOrder callback_order = CallbackOrder::kSubmission;
  // Whether jobs copy tensors between the host and the device's own copy (JobSync); if not, the
  // caller does.
  bool sync_inputs = true, sync_outputs = true;
  std::string name = "a session";  // for messages and logs
  JobIds job_ids = {};
  // The number of lanes that its jobs, also synchronous ones, may use at the same time; at least 1.
  uint32_t max_lanes = kMaxConcurrentRuns;
  // By default the environment decides (job_mode_in_force).
  std::optional<JobMode> mode = {};
  // By default the session has no columns and uses every lane of the device.
  std::optional<Placement> placement = {};
  std::shared_ptr<Profile> profile = nullptr;  // of the program; records every job; may be null
  // A job that runs without progress for this time is given up (kHung); its lane is replaced, and
  // the jobs after it run. Zero means never. MILLRACE_WATCHDOG, if it is set, may shorten the time.
  // With a watchdog, execute() always runs the job on a lane, and close() waits at most this time
  // for a job without progress.
  std::chrono::nanoseconds watchdog{0};
};

class Session {
 public:
  // Creates a session for `program`, which must be loaded on `device`. kInvalidArgument for options
  // out of range, or when MILLRACE_COLUMNS, MILLRACE_JOB_MODE or MILLRACE_WATCHDOG cannot be
  // parsed; kBusy when another session holds the columns; kOutOfMemory; and the errors of
  // queue::Unit::create.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<device::Device> device,
                                                 std::shared_ptr<const device::Program> program,
                                                 SessionOptions options = {});
  // Closes the session. Requirement: no thread except the callbacks' is inside another function of
  // this session; threads that were blocked in wait() or execute() must have returned before.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Cancels the jobs that have not started and waits for the running ones, and for the callbacks of
  // all jobs (while the process exits, for at most a second). May be called from a callback, also
  // of this session; the remaining callbacks run afterwards then. From here on submit() and
  // execute() return kClosed; results can still be collected, and threads that are blocked in
  // wait() or execute() return soon. A second call returns at once; the destructor waits for the
  // first.
  void close();
  // Begins what close() does, without waiting: no further job starts, and submit() and execute()
  // return kClosed from here on. For several sessions that are to be closed together.
  void begin_close();

  const graph::CompiledModel& model() const noexcept;
  // Returns the number of lanes on which its jobs may run: those of the device, or the one that is
  // pinned to the core of its columns.
  uint32_t lane_count() const noexcept;
  // Returns how many jobs submit() and execute() have accepted so far.
  uint64_t accepted_jobs() const noexcept;
  // Returns the conversions of all completed jobs. Those of a job are included when its status is
  // known.
  BoundaryConversions conversions() const noexcept;

  // Submits a job and returns at once. kQueueFull when max_concurrent_runs jobs are not completed,
  // kInvalidArgument when counts or pointers do not fit the model, kResourceExhausted when the
  // system refuses the thread for callbacks, kUnitDegraded while every lane hangs, kClosed,
  // kOutOfMemory; in all these cases nothing has changed. The job's place is free again when the
  // job completes, before its callback is called. The bindings are copied; the memory they refer to
  // must stay valid until completion.
  Result<SessionJobId> submit(const JobBindings& bindings, JobCallback callback = {});

  // Waits for the job and collects its final status. kPending when `timeout` passed first (zero or
  // less polls); the result can still be collected then. Each result is collected once:
  // kInvalidJobId for an id that was collected before, or never issued. Only the last 65,536
  // uncollected results are kept; the first time one is dropped, a line is logged.
  Status wait(SessionJobId id, std::chrono::milliseconds timeout);

  // Runs a job to its end, in the same order as asynchronous jobs, and returns its final status.
  // Waits while max_concurrent_runs jobs are not completed. If a lane sleeps, the calling thread
  // borrows it and runs the job itself, which saves a hand-off and a wake-up, unless the session is
  // bound to a core. kInvalidArgument and kClosed as in submit(): then the job has not run.
  Status execute(const JobBindings& bindings);

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::runtime
