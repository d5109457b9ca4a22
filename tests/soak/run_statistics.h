// RunStatistics: the counters of a soak run, and the checks that failed in it.
//
// Every job that a unit accepts has a Record, to which its callback and the thread that collects
// its result write; every unit has a CallbackCheck, which counts its callbacks. All of them are
// thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "millrace/millrace.hpp"
#include "tests/support/violations.h"

namespace millrace::soak {

// The number of values that StatusCode has.
#define MILLRACE_X(enumerator, text, meaning) +1
inline constexpr size_t kStatusCodes = 0 MILLRACE_STATUS_CODES(MILLRACE_X);
#undef MILLRACE_X

using Counter = std::atomic<uint64_t>;
using ByCode = std::array<Counter, kStatusCodes>;

inline void count(ByCode& counters, StatusCode code) {
  counters[static_cast<size_t>(code)].fetch_add(1, std::memory_order_relaxed);
}
inline uint64_t sum(const ByCode& counters) {
  uint64_t all = 0;
  for (const Counter& counter : counters) all += counter.load(std::memory_order_relaxed);
  return all;
}

class RunStatistics : public test::Violations {
 public:
  Counter submitted{0};          // jobs that were accepted and have a callback
  Counter executed{0};           // jobs that execute certainly ran
  Counter refused_or_failed{0};  // failures of execute that do not say whether a job ran
  ByCode completed{};            // callbacks
  ByCode collected{};            // by wait, co_await and execute
  ByCode refused{};
  // Whether allocations fail: then a unit may forget a result that it would keep otherwise, and the
  // thread that collects it gets INVALID_JOB_ID.
  bool may_forget = false;
  Counter own_failures{0};             // allocations of the workers' own that failed
  std::array<Counter, 3> cancelled{};  // by CancelOutcome
  Counter cancel_pending{0}, resets{0}, coroutines{0}, units_closed{0}, event_fds{0};

  void was_refused(const Status& status) {
    expect(!status.ok(), "a call was refused with OK");
    count(refused, status.code());
  }
};

// One job: its callback and the thread that collects its result must get the same status.
class Record {
 public:
  explicit Record(RunStatistics& statistics) : statistics_(statistics) {}

  void called(const Status& status) {
    statistics_.expect(!called_.exchange(true), "a callback was called twice");
    count(statistics_.completed, status.code());
    compare(status);
  }
  void collected(const Status& status) {
    count(statistics_.collected, status.code());
    compare(status);
  }

 private:
  void compare(const Status& status) {
    if (statistics_.may_forget && status.code() == StatusCode::kInvalidJobId) return;
    int none = -1;
    const int code = static_cast<int>(status.code());
    if (!code_.compare_exchange_strong(none, code) && none != code)
      statistics_.add_violation("a job was " +
                                std::string(to_string(static_cast<StatusCode>(none))) +
                                " for one observer and " + status.to_string() + " for another");
  }

  RunStatistics& statistics_;
  std::atomic<bool> called_{false};
  std::atomic<int> code_{-1};
};

// The callbacks of one unit: each runs once, and they run in the configured order.
class CallbackCheck {
 public:
  CallbackCheck(RunStatistics& statistics, CallbackOrder order)
      : statistics_(statistics), order_(order) {}

  void called(JobId id) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (order_ == CallbackOrder::kSubmission) {
      statistics_.expect(id > last_, "a callback ran out of order, or twice");
      last_ = id;
      return;
    }
    if (last_ == 0) last_ = id & ~kCounterMask;
    statistics_.expect(id > last_ && ahead_.insert(id).second, "a callback ran twice");
    while (ahead_.erase(last_ + 1) != 0) ++last_;
  }
  // Whether all of `count` callbacks have run. Requirement: the unit is closed.
  bool is_complete(uint64_t count) const {
    const std::lock_guard lock(mutex_);
    return calls_ == count && ahead_.empty();
  }
  void accepted(uint64_t count = 1) { accepted_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t accepted_count() const { return accepted_.load(std::memory_order_relaxed); }

 private:
  static constexpr JobId kCounterMask = (JobId{1} << 48) - 1;

  RunStatistics& statistics_;
  const CallbackOrder order_;
  Counter accepted_{0};
  mutable std::mutex mutex_;
  JobId last_ = 0;
  std::set<JobId> ahead_;  // of `last_`, for CallbackOrder::kCompletion
  uint64_t calls_ = 0;
};

}  // namespace millrace::soak
