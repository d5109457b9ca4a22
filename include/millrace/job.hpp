// Job: the handle of one job that a unit has accepted.
//
// A job's result is collected once, by wait or co_await, or given up by detach(). The destructor of
// a handle whose result was not collected waits for the end of the job, since the memory that the
// job writes may be freed next.
//
// There are five ways to learn of a completion, which is published at one point: wait,
// is_completed, the job's callback (JobArgs), an event fd, and co_await. A thread that sees a job
// as completed also sees its outputs and everything else that the job wrote before. When wait
// returns, or is_completed returns true, the callback of the same job may have run, be running, or
// run later.
//
// Thread-safe, also from callbacks, except that a handle must not be moved, assigned, detached or
// destroyed while another thread uses it. A job keeps the parts of its unit and device that it
// needs alive, so it may outlive both handles.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "millrace/execution.hpp"
#include "millrace/status.hpp"

namespace millrace {

namespace api {
class UnitCore;
}

// The unit's id in the upper 16 bits, and a counter without gaps, from 1, in the lower 48.
using JobId = uint64_t;

class Job {
 public:
  // Creates an empty handle, like one that was moved from or detached: id() is 0, and functions
  // that need a job return kInvalidJobId.
  Job() noexcept = default;
  // Waits for the job's end, unless its result was collected.
  ~Job();
  Job(Job&& other) noexcept;
  Job& operator=(Job&& other) noexcept;  // first waits, as the destructor does

  JobId id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ != 0; }

  // Waits for the job and collects its final status. One of several waiters gets it; every later
  // call returns kInvalidJobId. kPending if `timeout` passed first (zero or less polls); the result
  // can still be collected then. Only the last 65,536 results of a unit are kept: kInvalidJobId for
  // an older one.
  Status wait(std::chrono::nanoseconds timeout);
  // Waits without a timeout.
  Status wait();

  // Returns whether the job is completed; collects nothing. True for an empty handle.
  bool is_completed() const noexcept;

  // Cancels the job and waits up to `timeout` for the outcome (CancelOutcome). A running job stops
  // before its next piece of work; kPending if it has not stopped in time (it still will). Collects
  // nothing.
  Result<CancelOutcome> cancel(std::chrono::nanoseconds timeout);

  // Adds 1 to the eventfd `fd` once when the job completes; at once if it has. There is one fd per
  // job: a later call replaces an earlier one, a negative fd removes it. The fd is duplicated: the
  // caller may close its own at any time. kInvalidArgument for an fd that cannot be duplicated.
  Status notify_fd(int fd);

  // Makes the handle empty: the job continues, and its result is dropped. The memory of its tensors
  // must still stay valid until it is completed, which its callback reports.
  void detach() noexcept;

  // co_await job returns its final status and collects it, as wait does. If the job is completed,
  // the coroutine continues at once, otherwise on a thread for callbacks, where it may submit and
  // wait for other jobs, but should not block for long. Until then the handle must not be moved,
  // and the coroutine must not be destroyed. Allocates nothing.
  class Awaiter;
  Awaiter operator co_await() noexcept;

 private:
  friend class Unit;
  friend Result<size_t> wait_any(std::span<Job* const>, std::chrono::nanoseconds);
  friend Status wait_all(std::span<Job* const>, std::chrono::nanoseconds);

  Job(std::shared_ptr<api::UnitCore> unit, JobId id) noexcept;
  bool to_collect() const noexcept { return id_ != 0 && !collected_.load(); }
  Status collect(const Status& status) noexcept;
  void finish() noexcept;
  struct RequestList;
  static Status requests_of(std::span<Job* const> jobs, RequestList& list);

  std::shared_ptr<api::UnitCore> unit_;
  JobId id_ = 0;
  std::atomic<bool> collected_{false};
};

// The awaiter of co_await, which Job::operator co_await returns.
class Job::Awaiter {
 public:
  ~Awaiter();
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  bool await_ready() noexcept;
  bool await_suspend(std::coroutine_handle<> coroutine);
  Status await_resume();

 private:
  friend class Job;
  explicit Awaiter(Job& job) noexcept;

  static constexpr size_t kStorageBytes = 128;
  Job& job_;
  bool waits_ = false;  // whether `storage_` holds a waiter
  alignas(std::max_align_t) std::byte storage_[kStorageBytes];
};

// Waits up to `timeout` until one of the jobs is completed, and returns its index in the list (the
// lowest if several are). Its result is not collected. kPending if none is completed by then,
// kInvalidArgument for an empty list or a null pointer, kInvalidJobId for a handle that is empty or
// whose result was collected. The jobs may belong to several units and devices.
Result<size_t> wait_any(std::span<Job* const> jobs, std::chrono::nanoseconds timeout);

// Waits up to `timeout` until all jobs are completed. OK then, whatever their statuses, which
// wait() returns. kPending if some are not completed by then; other errors as above.
Status wait_all(std::span<Job* const> jobs, std::chrono::nanoseconds timeout);

}  // namespace millrace
