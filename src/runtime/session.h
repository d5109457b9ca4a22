// Session: jobs on one program. The core behind every face: it owns a few execution units, gives
// each job to the unit with the fewest jobs in flight, converts at the boundary where the bound
// view is not one the program accepts, and keeps the results until they are collected.
//
// Jobs may finish out of order (each unit is in order); callbacks come in the order of submission
// or of completion. Thread-safe; all functions may be called from callbacks, too, and none is a
// cancellation point. In a forked child (base/process/forked_child.h) jobs are refused with
// kForked, and destroying the session does nothing.
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
  // Whether jobs sync tensors with a device's own copy themselves, or the caller does.
  bool sync_inputs = true, sync_outputs = true;
  std::string name = "a session";  // for messages and logs
  // Lanes that its jobs, synchronous ones too, may hold at the same time; at least 1.
  uint32_t max_lanes = kMaxConcurrentRuns;
  // None: as the environment says (job_mode_in_force).
  std::optional<JobMode> mode = {};
  // None: it has no columns and uses every lane of the device.
  std::optional<Placement> placement = {};
  std::shared_ptr<Profile> profile = nullptr;  // the program's; notified of every job; may be null
  // A job that runs without progress for this long is given up (kHung); its lane is replaced, and
  // the jobs behind it run. Zero: never. MILLRACE_WATCHDOG, if it is set, shortens it. With it,
  // execute() hands over to a lane, and close() waits no longer for a job without progress.
  std::chrono::nanoseconds watchdog{0};
};

class Session {
 public:
  // kInvalidArgument for options out of range, and when MILLRACE_COLUMNS or MILLRACE_JOB_MODE makes
  // no sense; kBusy when others are on the columns; as queue::Unit::create for its units;
  // kOutOfMemory.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<device::Device> device,
                                                 std::shared_ptr<const device::Program> program,
                                                 SessionOptions options = {});
  // close(). Requirement: no thread but that of callbacks is inside another function of this
  // session; threads that were blocked in wait() or execute() must have returned before.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Jobs that have not started are cancelled, the running ones finish. Returns when the callbacks
  // of all jobs have run (while the process exits: or have taken longer than a second). May be
  // called from a callback, also of this session; the callbacks that are left run afterwards then.
  // From here on submit() and execute() are kClosed; results stay collectable, and threads that are
  // blocked in wait() or execute() return soon. A second call returns at once; the destructor waits
  // for the first.
  void close();

  const graph::CompiledModel& model() const noexcept;
  // Lanes on which its jobs may run: those of the device, or the one of the core it is bound to.
  uint32_t lane_count() const noexcept;
  // Jobs of submit() and execute() that were not refused, so far.
  uint64_t accepted_jobs() const noexcept;
  // The conversions of all completed jobs together. The conversions of a job are included when its
  // status is known.
  BoundaryConversions conversions() const noexcept;

  // Returns at once. kQueueFull when max_concurrent_runs jobs are not completed, kInvalidArgument
  // when counts or pointers do not fit the model, kResourceExhausted when the system refuses the
  // thread for callbacks, kUnitDegraded while every lane hangs, kClosed, kOutOfMemory; then
  // nothing has changed. Its place is free again when the job completes, before its callback is
  // called. The bindings are copied; the memory they name must stay valid until completion.
  Result<SessionJobId> submit(const JobBindings& bindings, JobCallback callback = {});

  // The job's final status, once: collecting an id twice, or one never issued, is kInvalidJobId.
  // kPending when `timeout` passed first (zero or less polls); the job stays collectable. Only the
  // last 65,536 uncollected results are kept; the first time one is dropped, a line is logged.
  Status wait(SessionJobId id, std::chrono::milliseconds timeout);

  // Runs a job to its end, in the same order as asynchronous jobs; waits while max_concurrent_runs
  // jobs are not completed. If a lane is free, the calling thread borrows it and runs the job
  // itself (no hand-off and no wake-up), unless the session is bound to a core. Returns the job's
  // final status, as wait() does. kInvalidArgument and kClosed as submit(): the job has not run.
  Status execute(const JobBindings& bindings);

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace millrace::runtime
