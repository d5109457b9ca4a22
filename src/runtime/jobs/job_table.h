// JobTable: the jobs of a session from submission until their result is collected.
//
//   unused --reserve--> reserved --issue--> pending --publish--> completed --wait--> collected
//                                                                          or dropped as the oldest
//
// Completed results that no thread collects are kept up to a limit; beyond it the oldest is
// dropped, and a line is logged the first time.
//
// Entries are created as needed and reused, and the containers link the entries themselves
// (Boost.Intrusive), so in steady state nothing is allocated. Thread-safe.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/slist.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/status.h"
#include "queue/requests/request.h"
#include "queue/units/unit.h"
#include "queue/waiting/spin.h"
#include "runtime/jobs/callback_sequencer.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

// One job. The table owns it; the task that runs the job keeps a pointer until it completes the
// job.
struct Job {
  SessionJobId id = 0;
  CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket;
  queue::Unit* unit = nullptr;  // runs the job, and outlives it

 private:
  friend class JobTable;
  using Link = boost::intrusive::link_mode<boost::intrusive::normal_link>;

  std::atomic<bool> done{false};
  bool collected = false;
  uint32_t waiters = 0;  // threads blocked in wait(); they keep the entry
  queue::Completion completion;
  std::condition_variable finished;
  boost::intrusive::unordered_set_member_hook<Link> by_id;
  boost::intrusive::list_member_hook<Link> by_age;
  boost::intrusive::slist_member_hook<Link> unused;
};

class JobTable {
 public:
  static constexpr size_t kMaxUncollected = 65'536;

  explicit JobTable(size_t max_uncollected = kMaxUncollected, JobIds ids = {});

  // Reserves an entry, so that issuing a job cannot fail. Throws std::bad_alloc; then nothing has
  // changed.
  Job* reserve();
  // Returns a reserved entry that is not needed.
  void release(Job* reserved) noexcept;
  // Makes a pending job of a reserved entry, with the next id. Ids that are still in the table are
  // skipped.
  void issue(Job* reserved,
             CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket) noexcept;

  // Stores the sequence id of the job's request, unless the job is already collected. Observers get
  // it when a wait ends before the job; otherwise publish() stores it.
  void note_sequence(SessionJobId id, queue::SequenceId sequence);

  // Publishes the job's final status and wakes its waiters. The pointer is invalid afterwards.
  // Returns whether that has dropped a result for the first time: then the caller must call
  // log_dropped(), without holding a lock.
  bool publish(Job* job, const queue::Completion& completion);
  static void log_dropped();

  // See Session::wait. Requirement: `timeout` is at most kLongestWait.
  Status wait(SessionJobId id, std::chrono::nanoseconds timeout);

 private:
  struct IdOf {
    using type = SessionJobId;
    type operator()(const Job& job) const noexcept { return job.id; }
  };
  // Ids are issued in ascending order, so the low bits of their Gray codes distribute them evenly,
  // also if all are odd or all are even.
  struct GrayCodeHash {
    size_t operator()(SessionJobId id) const noexcept { return id ^ (id >> 1); }
  };
  using ById = boost::intrusive::unordered_set<
      Job, boost::intrusive::member_hook<Job, decltype(Job::by_id), &Job::by_id>,
      boost::intrusive::key_of_value<IdOf>, boost::intrusive::hash<GrayCodeHash>,
      boost::intrusive::power_2_buckets<true>>;
  using ByAge = boost::intrusive::list<
      Job, boost::intrusive::member_hook<Job, decltype(Job::by_age), &Job::by_age>>;
  using Unused = boost::intrusive::slist<
      Job, boost::intrusive::member_hook<Job, decltype(Job::unused), &Job::unused>>;
  using Buckets = std::unique_ptr<ById::bucket_type[]>;
  static constexpr size_t kFirstBuckets = 64;

  Job* find(SessionJobId id) noexcept;
  void make_room();
  void recycle(Job* job) noexcept;
  Status still_pending(const Job* job);
  Status collect(Job* job);
  bool await(std::unique_lock<std::mutex>& lock, Job* job, std::chrono::nanoseconds timeout);

  const size_t max_uncollected_;
  // How long a wait spins. A short job finishes in that time, and waking a sleeping thread takes
  // longer (tens of microseconds on virtual machines).
  queue::AdaptiveSpin spin_{std::chrono::microseconds(20)};
  std::mutex mutex_;
  const SessionJobId id_step_;
  SessionJobId next_id_;
  std::deque<Job> storage_;  // stable addresses
  size_t bucket_count_ = kFirstBuckets;
  Buckets buckets_;    // used by by_id_, so they must outlive it
  ById by_id_;         // jobs that are pending, or not yet collected
  ByAge uncollected_;  // jobs that have completed without a waiter, oldest first
  Unused unused_;      // entries of storage_ that are free for reuse
  bool any_dropped_ = false;
};

}  // namespace millrace::runtime
