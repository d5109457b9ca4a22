// JobTable: the jobs of a session from submission until their result is collected.
//
//   issue -> pending -> complete -> [collected | dropped as the oldest of too many]
//
// Completed results that nobody collects are kept up to a limit; beyond it the oldest is dropped,
// and a line is logged the first time.
// Entries are made as needed and reused, so that a session in steady state allocates nothing here.
// Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "queue/request.h"
#include "queue/spin.h"
#include "runtime/callback_sequencer.h"
#include "runtime/job.h"

namespace millrace::runtime {

// One job. Its owner is the table; the task that runs it keeps a pointer until it completes it.
struct Job {
  SessionJobId id = 0;
  CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket;

 private:
  friend class JobTable;
  std::atomic<bool> done{false};
  bool collected = false;
  uint32_t waiters = 0;  // threads blocked in wait(); they keep the entry
  queue::Completion completion;
  std::condition_variable finished;
  Job* next = nullptr;   // in its bucket, or among the unused
  Job* older = nullptr;  // neighbours in the list of results that nobody waits for
  Job* newer = nullptr;
};

// Stands for every longer time, which the clock may be unable to express.
inline constexpr std::chrono::hours kLongestWait{24 * 365};

class JobTable {
 public:
  static constexpr size_t kMaxUncollected = 65'536;

  explicit JobTable(size_t max_uncollected = kMaxUncollected, SessionJobId first_id = 1);

  // A new pending job with the next id: one more than the last, from the largest on to 1, leaving
  // out ids still in the table. Throws std::bad_alloc; then nothing has changed.
  Job* issue(CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket);
  // Takes back a pending job that will never be completed: its id becomes unknown.
  void revoke(Job* job);

  // Says which request of a unit the job is, if it is not collected yet: for observers of a wait in
  // vain, who learn it too late from complete().
  void note_sequence(SessionJobId id, queue::SequenceId sequence);

  // Publishes the job's final status and wakes its waiters. The pointer is void afterwards. Returns
  // whether that has dropped a result, for the first time: then log_dropped() is to be called, with
  // no lock held.
  bool publish(Job* job, const queue::Completion& completion);
  static void log_dropped();
  // Both in one.
  void complete(Job* job, const queue::Completion& completion) {
    if (publish(job, completion)) log_dropped();
  }

  // See Session::wait. At most kLongestWait.
  Status wait(SessionJobId id, std::chrono::nanoseconds timeout);

 private:
  Job* take_entry();
  Job** bucket_of(SessionJobId id) noexcept;
  Job* find(SessionJobId id) noexcept;
  void make_room();
  void insert(Job* job) noexcept;
  void erase(Job* job) noexcept;
  void recycle(Job* job) noexcept;
  void append_uncollected(Job* job) noexcept;
  void remove_uncollected(Job* job) noexcept;
  Status still_pending(const Job* job);
  Status collect(Job* job);
  bool await(std::unique_lock<std::mutex>& lock, Job* job, std::chrono::nanoseconds timeout);

  const size_t max_uncollected_;
  // Long enough for a short job to finish, short against the wake-up of a sleeping thread, which
  // takes tens of microseconds on virtual machines.
  queue::AdaptiveSpin spin_{std::chrono::microseconds(20)};
  std::mutex mutex_;
  SessionJobId next_id_;
  std::deque<Job> storage_;    // stable addresses
  Job* unused_ = nullptr;      // entries of storage_ free for reuse, chained through next
  std::vector<Job*> buckets_;  // by id, a power of two; chained through next
  size_t known_ = 0;           // jobs in the buckets
  Job* oldest_ = nullptr;      // completed, uncollected, not waited for
  Job* newest_ = nullptr;
  size_t uncollected_ = 0;
  bool any_dropped_ = false;
};

}  // namespace millrace::runtime
