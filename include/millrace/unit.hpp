// Unit: an execution unit. Order, not a thread: a bounded FIFO that runs one job at a time on the
// lanes of its device, in the order of submission. Any model loaded on that device may be
// submitted, job by job.
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
#include <span>
#include <string>

#include "millrace/buffer.hpp"
#include "millrace/execution.hpp"
#include "millrace/job.hpp"
#include "millrace/model.hpp"
#include "millrace/status.hpp"

namespace millrace {

// Called once per job that was submitted with it, also for one that failed, on a thread for
// callbacks, after the completion; the callbacks of a unit come one at a time. It may submit, and
// wait for other jobs; what it throws is caught and logged.
using JobCallback = std::function<void(JobId id, const Status& status)>;

// One job. The tensors frame after frame: frames * inputs-per-frame and frames * outputs-per-frame,
// in the model's order; 1 <= frames <= batch size. The spans are read during the call only, the
// memory that their elements name until completion.
struct JobArgs {
  std::span<const TensorArg> inputs{};
  std::span<const TensorArg> outputs{};
  uint32_t frames = 1;
  // Enforced while the job is queued, and between two pieces of its work: it completes with
  // kDeadlineExceeded. A job that has finished its work has succeeded, however late.
  Deadline deadline = kNoDeadline;
  JobCallback callback{};  // may be empty
  // True: a job that would convert a tensor is refused, with kInvalidArgument. The environment
  // variable MILLRACE_STRICT_ZERO_COPY=1, where it is set when the model is loaded, does the same
  // for all jobs of that model.
  bool strict_zero_copy = false;
  // The job reports here what it converted, before its completion is visible; must stay valid
  // until then. Null: no report.
  BoundaryConversions* conversions = nullptr;
};

class Unit {
 public:
  static constexpr uint32_t kMaxDepth = 65'536;

  // close().
  ~Unit();
  Unit(Unit&&) noexcept;
  Unit& operator=(Unit&&) noexcept;  // first closes what it held

  // Takes a place and makes the job ready. When `depth` jobs are not completed, does what the
  // unit's policy says. Never waits for the device, except with WhenFull::kBlock.
  //   kInvalidArgument    counts, memory or views do not fit the model, or the model is loaded on
  //                       another device
  //   kQueueFull          no place, or 65,536 removed jobs behind one that does not end
  //   kDeadlineExceeded   the job's deadline passed before there was a place; or, with
  //                       WhenFull::kShedByDeadline, it was not expected to be in time
  //   kUnitDegraded       with the cause
  //   kClosed             the unit is closed
  //   kResourceExhausted  the system refuses the thread for callbacks or for deadlines
  //   kOutOfMemory
  // In all of these cases nothing has changed, and the callback will not be called.
  Result<Job> submit(const Model& model, JobArgs args);
  // The same, but never waits for a place and never makes one: kQueueFull.
  Result<Job> try_submit(const Model& model, JobArgs args);
  // The same, waiting for a place until `limit`: then kQueueFull.
  Result<Job> submit_until(Deadline limit, const Model& model, JobArgs args);

  // Submits as many of `args`, from the first, as there are places, and writes their handles to
  // `jobs`, which has as many elements, empty ones. Returns how many; kQueueFull when there is no
  // place, the rest as submit; then nothing has changed. One wake-up for all of them when they have
  // no callbacks and one deadline.
  Result<size_t> try_submit_n(const Model& model, std::span<const JobArgs> args,
                              std::span<Job> jobs);
  // Submits all of `args` in order, waiting for places. On failure, which is as in submit, those
  // before the one that failed were submitted: their handles are not empty.
  Status submit_n(const Model& model, std::span<const JobArgs> args, std::span<Job> jobs);

  // Runs a job to its end, after those submitted before; waits for a place while there is none. If
  // the unit is idle and a lane is free, the job runs on the calling thread on behalf of that lane:
  // no hand-off and no wake-up. Not so with a watchdog, a deadline or a callback. Returns the job's
  // status, or why there was none, as in submit.
  Status execute(const Model& model, JobArgs args);

  // "k places are free": waits for it; kDeadlineExceeded when `timeout` passed first,
  // kInvalidArgument when k exceeds the depth, kClosed when the unit closes. Another thread may
  // take the places before the caller does.
  Status wait_free(uint32_t k, std::chrono::nanoseconds timeout);
  // Adds 1 to the eventfd `fd` now if k places are free, and at every completion after which k are.
  // One per unit; a negative fd removes it. The fd is duplicated.
  Status notify_free_fd(uint32_t k, int fd);
  // Adds 1 to the eventfd `fd` at every completion from now on. One per unit; a negative fd removes
  // it. The fd is duplicated. Completions may be merged, and a removed job may count twice: ask
  // again what is completed.
  Status notify_each_fd(int fd);

  // The highest id up to which all are completed, and the highest issued; the low 48 bits are 0
  // while there is none. last_completed passes a removed job when those before it are done.
  JobId last_completed() const noexcept;
  JobId last_submitted() const noexcept;
  // Whether the job is completed; false for an id that this unit never issued.
  bool is_completed(JobId id) const noexcept;

  // Jobs accepted and not completed.
  uint32_t in_flight() const noexcept;
  uint32_t depth() const noexcept;
  const std::string& name() const noexcept;

  UnitState state() const noexcept;
  // Why the unit is degraded; OK when it is not.
  Status failure() const;
  // Grows with every reset, automatic or not.
  uint32_t generation() const noexcept;
  // Puts a degraded unit back into service; nothing otherwise. kNoLane when the device has no lane
  // left to run on, kClosed when the unit is closed.
  Status reset();

  // Ends the unit; a second call waits for the first (except in a callback: there it returns). Jobs
  // that have not started complete with kCancelled; waits for the running one, giving it up when it
  // makes no progress (UnitOptions); wakes all waiting threads; delivers the remaining callbacks
  // (in a callback they run afterwards). Results stay known; whatever needs the unit says kClosed.
  // For the memory that jobs name, see ~Device.
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
