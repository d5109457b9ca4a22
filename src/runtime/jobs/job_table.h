// JobTable: the jobs of a session from submission until their result is collected.
//
//   unused --reserve--> reserved --issue--> pending --publish--> completed --wait--> collected
//                                                                          or dropped as the oldest
//
// Completed results that no thread collects are kept up to a limit; beyond it the oldest is
// dropped, and a line is logged the first time.
// Entries are made as needed and reused, so that a session in steady state allocates nothing here:
// the containers link the entries themselves (Boost.Intrusive). Thread-safe.
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

#include "base/status.h"
#include "queue/requests/request.h"
#include "queue/waiting/spin.h"
#include "runtime/jobs/callback_sequencer.h"
#include "runtime/jobs/job.h"

namespace millrace::runtime {

// One job. Its owner is the table; the task that runs it keeps a pointer until it completes it.
struct Job {
  SessionJobId id = 0;
  CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket;

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

// Stands for every longer time, which the clock may be unable to express.
inline constexpr std::chrono::hours kLongestWait{24 * 365};

class JobTable {
 public:
  static constexpr size_t kMaxUncollected = 65'536;

  explicit JobTable(size_t max_uncollected = kMaxUncollected, SessionJobId first_id = 1);

  // Sets an entry aside, so that issuing a job cannot fail. Throws std::bad_alloc; then nothing has
  // changed.
  Job* reserve();
  // Takes back a reserved entry that is not needed.
  void release(Job* reserved) noexcept;
  // Makes a job of a reserved entry. It is pending under the next id: one more than the last, from
  // the largest on to 1, leaving out ids still in the table.
  void issue(Job* reserved,
             CallbackSequencer::Ticket ticket = CallbackSequencer::kNoTicket) noexcept;

  // Says which request of a unit the job is, if it is not collected yet: for observers of a wait
  // that ends too early, for which publish() comes too late.
  void note_sequence(SessionJobId id, queue::SequenceId sequence);

  // Publishes the job's final status and wakes its waiters. The pointer is invalid afterwards.
  // Returns whether that has dropped a result, for the first time: then log_dropped() is to be
  // called, with no lock held.
  bool publish(Job* job, const queue::Completion& completion);
  static void log_dropped();

  // See Session::wait. At most kLongestWait.
  Status wait(SessionJobId id, std::chrono::nanoseconds timeout);

 private:
  struct IdOf {
    using type = SessionJobId;
    type operator()(const Job& job) const noexcept { return job.id; }
  };
  // Ids are issued in ascending order, so their low bits spread them evenly.
  struct IdentityHash {
    size_t operator()(SessionJobId id) const noexcept { return id; }
  };
  using ById = boost::intrusive::unordered_set<
      Job, boost::intrusive::member_hook<Job, decltype(Job::by_id), &Job::by_id>,
      boost::intrusive::key_of_value<IdOf>, boost::intrusive::hash<IdentityHash>,
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
  // Long enough for a short job to finish, short against the wake-up of a sleeping thread, which
  // takes tens of microseconds on virtual machines.
  queue::AdaptiveSpin spin_{std::chrono::microseconds(20)};
  std::mutex mutex_;
  SessionJobId next_id_;
  std::deque<Job> storage_;  // stable addresses
  size_t bucket_count_ = kFirstBuckets;
  Buckets buckets_;    // outlive by_id_, which is in them
  ById by_id_;         // pending, or not collected
  ByAge uncollected_;  // completed and not waited for, oldest first
  Unused unused_;      // entries of storage_ that are free for reuse
  bool any_dropped_ = false;
};

}  // namespace millrace::runtime
