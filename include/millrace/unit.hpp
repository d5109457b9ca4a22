// Unit: an execution unit, which is a bounded FIFO queue that runs one job at a time, in the order
// of submission. It has no thread: its jobs run on the lanes (worker threads) of its device. Each
// job may run any model that is loaded on that device.
//
//   submit -> [place taken, id] -> queued -> running on a lane -> completed
//                                    |                               ^
//                                    +-- removed: cancelled, --------+
//                                        deadline, dropped
//
// A unit of depth d has d places: a job takes one when it is accepted, and frees it when it
// completes.
//
// A job completes exactly once. Jobs complete in the order of their ids, except that a removed
// one completes at once, wherever it is in the queue.
//
// Thread-safe, also from callbacks, except that a handle must not be moved, assigned or destroyed
// while another thread uses it. A moved-from unit may only be assigned to or destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "millrace/buffer.hpp"
#include "millrace/execution.hpp"
#include "millrace/job.hpp"
#include "millrace/model.hpp"
#include "millrace/statistics.hpp"
#include "millrace/status.hpp"

namespace millrace {

// A completion callback. Called once per job that was submitted with it, also if the job failed, on
// a thread for callbacks, after the completion. The callbacks of a unit are called one at a time. A
// callback may submit jobs and wait for others; an exception that it throws is caught and logged.
using JobCallback = std::function<void(JobId id, const Status& status)>;

// The arguments of one job. `inputs` and `outputs` hold frames * inputs-per-frame and
// frames * outputs-per-frame tensors, frame by frame, in the model's order; 1 <= frames <= batch
// size. The spans are read during the call only; the memory of the tensors is used until
// completion.
struct JobArgs {
  std::span<const TensorArg> inputs{};
  std::span<const TensorArg> outputs{};
  uint32_t frames = 1;
  // Checked while the job is queued and between two pieces of its work; once it has passed, the job
  // completes with kDeadlineExceeded. A job that has finished its work succeeds, however late.
  Deadline deadline = kNoDeadline;
  JobCallback callback{};  // may be empty
  // If true, a job that would convert a tensor is refused with kInvalidArgument. The environment
  // variable MILLRACE_STRICT_ZERO_COPY=1, if it is set when the model is loaded, does the same for
  // all jobs of that model.
  bool strict_zero_copy = false;
  // The job writes its conversions here before its completion is visible, so it must stay valid
  // until then. May be null.
  BoundaryConversions* conversions = nullptr;
  // The job writes when it ran here, in the same way. May be null.
  JobSpan* span = nullptr;
};

class Unit {
 public:
  static constexpr uint32_t kMaxDepth = 65'536;

  // Closes the unit.
  ~Unit();
  Unit(Unit&&) noexcept;
  Unit& operator=(Unit&&) noexcept;  // first closes what it held

  // Submits a job: takes a place and makes the job ready. When `depth` jobs are not completed, the
  // unit's policy decides. Never waits for the device, except with WhenFull::kBlock. Fails with
  //   kInvalidArgument    counts, memory or views do not fit the model, or the model is loaded on
  //                       another device
  //   kQueueFull          there is no place, or there are 65,536 removed jobs after one that does
  //                       not end
  //   kDeadlineExceeded   the job's deadline passed before there was a place; or, with
  //                       WhenFull::kShedByDeadline, it was not expected to be in time
  //   kUnitDegraded       the unit is degraded; the message has the cause
  //   kClosed             the unit is closed
  //   kResourceExhausted  the system refuses the thread for callbacks or for deadlines
  //   kOutOfMemory        there is not enough memory
  // In all of these cases nothing has changed, and the callback will not be called.
  Result<Job> submit(const Model& model, JobArgs args);
  // Like submit(), but when the unit is full it fails with kQueueFull, whatever the policy.
  Result<Job> try_submit(const Model& model, JobArgs args);
  // Like submit(), but waits for a place until `limit`, then fails with kQueueFull.
  Result<Job> submit_until(Deadline limit, const Model& model, JobArgs args);

  // Submits as many of `args`, from the first on, as there are places, and writes their handles to
  // `jobs`, which must have at least as many elements, all empty. Returns how many were submitted;
  // kQueueFull if there is no place, other errors as in submit(); then nothing has changed. Costs
  // one wake-up for all of them if they have no callbacks and the same deadline.
  Result<size_t> try_submit_n(const Model& model, std::span<const JobArgs> args,
                              std::span<Job> jobs);
  // Submits all of `args` in order, waiting for places. If one fails (as in submit()), those before
  // it were submitted: their handles are not empty.
  Status submit_n(const Model& model, std::span<const JobArgs> args, std::span<Job> jobs);

  // Submits a job (waiting for a place) and waits for its status. If the unit is idle and a lane
  // sleeps, the job runs on the calling thread in its place, which saves a hand-off and a wake-up;
  // not with a watchdog, and with a deadline or a callback only as a wait would run it (see
  // UnitOptions::caller_helps). Returns the job's status, or the errors of submit().
  Status execute(const Model& model, JobArgs args);
  // Runs a job on the calling thread if that is sooner done than handed over: the unit is idle, a
  // lane sleeps, and the jobs that were measured took no longer than `longest` on average
  // (UnitStatistics::mean_run). Returns the job's status; nothing if the job has to be submitted
  // instead, which is also so if it has a callback or a deadline, if submit() would refuse it, and
  // if CallerHelps is, or amounts to, kNever. For event loops with tiny models, which would wake a
  // lane and be woken by it.
  std::optional<Status> execute_here(const Model& model, const JobArgs& args,
                                     std::chrono::nanoseconds longest);

  // Waits until k places are free. kDeadlineExceeded if `timeout` passed first, kInvalidArgument if
  // k exceeds the depth, kClosed if the unit closes. Another thread may take the places before the
  // caller does.
  Status wait_free(uint32_t k, std::chrono::nanoseconds timeout);
  // Adds 1 to the eventfd `fd` now if k places are free, and at every completion after which k
  // places are free. There is one fd per unit; a negative fd removes it. The fd is duplicated.
  Status notify_free_fd(uint32_t k, int fd);
  // Adds 1 to the eventfd `fd` at every completion from now on. There is one fd per unit; a
  // negative fd removes it. The fd is duplicated. Completions may be merged, and a removed job may
  // count twice, so a reader has to check which jobs are completed.
  Status notify_each_fd(int fd);

  // Return the highest id up to which all jobs are completed, and the highest id issued. The lower
  // 48 bits are 0 if there is none. last_completed() passes a removed job when those before it are
  // completed.
  JobId last_completed() const noexcept;
  JobId last_submitted() const noexcept;
  // Returns whether the job is completed; false for an id that this unit never issued.
  bool is_completed(JobId id) const noexcept;

  // Returns the number of jobs that are accepted and not completed.
  uint32_t in_flight() const noexcept;
  uint32_t depth() const noexcept;
  const std::string& name() const noexcept;

  UnitState state() const noexcept;
  // Returns why the unit is degraded; OK if it is not.
  Status failure() const;
  // Returns the number of resets, automatic or not.
  uint32_t generation() const noexcept;
  // Returns what the unit has done so far. Costs a few loads.
  UnitStatistics statistics() const noexcept;
  // Puts a degraded unit back into service; does nothing otherwise. kNoLane if the device has no
  // lane left to run on, kClosed if the unit is closed.
  Status reset();

  // Ends the unit. Jobs that have not started complete with kCancelled. Waits for the running one,
  // and gives it up if it makes no progress (UnitOptions). Wakes all waiting threads, and waits for
  // the remaining callbacks (called in a callback, it lets them run afterwards). Results are still
  // kept; functions that need the unit return kClosed. A second call waits for the first, except in
  // a callback of the unit, where it returns at once. For the memory of the jobs' tensors, see
  // ~Device.
  void close();

 private:
  friend class Device;
  explicit Unit(std::shared_ptr<api::UnitCore> core) noexcept;
  template <class Submit>
  Result<Job> submit_one(const Model& model, const JobArgs& args, Submit&& submit);
  Result<Job> try_submit_copy(const Model& model, const JobArgs& args);
  size_t valid_jobs(const Model& model, std::span<const JobArgs> args, Status& bad);
  Result<size_t> submit_alike(const Model& model, std::span<const JobArgs> args,
                              std::span<Job> jobs);
  Result<size_t> submit_each(const Model& model, std::span<const JobArgs> args,
                             std::span<Job> jobs);

  std::shared_ptr<api::UnitCore> core_;
};

}  // namespace millrace
