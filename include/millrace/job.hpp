// Job: the handle of one job that a unit has accepted.
//
// A handle is waited for or detached, never leaked: a job's result is collected once, by wait or
// co_await; a handle that goes away uncollected waits for the end of its job, since the memory the
// job writes may go away with it. detach() gives the result up.
//
// Completion is reported in five ways, all fed by one publication point: wait, is_completed, the
// job's callback (JobArgs), an event fd, co_await. A thread that sees a job as completed also sees
// its outputs and everything else that the job wrote before. A wait that returns, or an
// is_completed that says true, says nothing about the callback of the same job: it may run before,
// during or after.
//
// Thread-safe, also from callbacks, except that a handle must not be moved, assigned, detached or
// destroyed while another thread uses it. A job keeps what it needs of its unit and device: it may
// outlive both handles.
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

// 64 bits: the unit's id in the high 16, a counter without gaps, from 1, in the low 48.
using JobId = uint64_t;

class Job {
 public:
  // An empty handle, like one that was moved from or detached: id() is 0, and whatever needs a job
  // says kInvalidJobId.
  Job() noexcept = default;
  // Waits for the job's end, unless its result was collected.
  ~Job();
  Job(Job&& other) noexcept;
  Job& operator=(Job&& other) noexcept;  // first waits, as the destructor does

  JobId id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ != 0; }

  // The job's final status, which it collects: of several waiters one gets it, and every later call
  // says kInvalidJobId. kPending when `timeout` passed first (zero or less polls); then the job is
  // still to be collected. Only the last 65,536 results of a unit are kept: kInvalidJobId for an
  // older one.
  Status wait(std::chrono::nanoseconds timeout);
  // The same, however long it takes.
  Status wait();

  // Whether the job is completed; collects nothing. True for an empty handle.
  bool is_completed() const noexcept;

  // Asks for the end of the job and waits up to `timeout` for what becomes of it: see
  // CancelOutcome. kPending when it runs and has not come to a boundary between two pieces of work
  // by then; it will still stop there. Collects nothing.
  Result<CancelOutcome> cancel(std::chrono::nanoseconds timeout);

  // Adds 1 to the eventfd `fd` once when the job completes; at once if it has. One per job: a later
  // call replaces an earlier one, a negative fd removes it. The fd is duplicated: the caller may
  // close its own at any time. kInvalidArgument for an fd that cannot be duplicated.
  Status notify_fd(int fd);

  // Gives the handle up: the job runs on, its result is dropped, the handle is empty. The memory
  // that the job names must still stay valid until it is completed, which its callback reports.
  void detach() noexcept;

  // co_await job: its final status, collected as by wait. Goes on at once when the job is
  // completed, and otherwise on the thread of the callbacks, where it may submit and wait for other
  // jobs, and should not block for long. The handle must stay where it is, and the coroutine must
  // not be destroyed, until it goes on. Allocates nothing.
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

// The awaiter that co_await works with; made by Job::operator co_await.
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

// The index of a job that is completed (the first in the list, if several are), waiting up to
// `timeout` for one; the result is still to be collected, by wait. kPending when none is by then,
// kInvalidArgument for an empty list or a null pointer, kInvalidJobId for a handle that is empty or
// collected. The jobs may be of several units and devices.
Result<size_t> wait_any(std::span<Job* const> jobs, std::chrono::nanoseconds timeout);

// OK when all jobs are completed, whatever their status, which wait returns for each. kPending when
// some were not when `timeout` had passed; the rest as above.
Status wait_all(std::span<Job* const> jobs, std::chrono::nanoseconds timeout);

}  // namespace millrace
