// A thread that waits for a request would do nothing until a lane has woken, run the request and
// woken the thread. If no lane has begun the unit, the thread becomes its owner instead, borrows a
// sleeping lane, and runs the unit's requests in their order up to the one that it waits for. To
// all others it looks as if that lane had run them.
#include <algorithm>

#include "base/float_environment.h"
#include "queue/callbacks/dispatcher_impl.h"
#include "queue/units/unit_impl.h"
#include "queue/waiting/deadline.h"

namespace millrace::queue {
namespace {

// A request is short if it takes no longer than this many wakes of a lane. A thread that sleeps
// until a request is completed costs a wake for each, and the lanes the time on a core that they
// lose to it: on two cores the throughput is higher with threads that help up to some 16 wakes.
constexpr int64_t kWakesOfShort = 16;
// Requests of other units take no longer than this many wakes or this many runs of the unit that is
// waited for: the thread notices only afterwards that its own request is completed.
constexpr int64_t kWakesOfOthers = 3, kTimesOwnRun = 2;
// A wait with a time limit helps only where the limit is at least this multiple of the longest
// short request, since a request that runs on the waiting thread cannot be left at the limit.
constexpr int64_t kTimesWithinLimit = 16;
// The first requests of a unit are measured, and later each kth, since a measured one reads the
// clock twice.
constexpr uint64_t kFirstMeasured = 4, kMeasuredEach = 61;

}  // namespace

bool Unit::Impl::measures_run(uint64_t counter) const noexcept {
  if (options_.when_full == WhenFull::kShedByDeadline) return true;
  return (counter <= kFirstMeasured || counter % kMeasuredEach == 0) &&
         (callers_help_.load(std::memory_order_relaxed) ||
          measured_.load(std::memory_order_relaxed));
}

bool Unit::Impl::callers_may_run(int64_t longest_ns) const noexcept {
  if (!callers_help_.load(std::memory_order_relaxed)) return false;
  const int64_t run = mean_run_ns_.load(std::memory_order_relaxed);
  return run != 0 && run <= std::min(longest_ns, kWakesOfShort * lanes_->wake_ns());
}

// A request with a deadline must not wait while a lane sleeps.
bool Unit::Impl::may_be_left() const noexcept {
  return callers_may_run() && deadline_of(ring_.request(ring_.head())) == kNoDeadline;
}

// The thread may run requests of other units, too, so the limit has room for the longest of those.
bool Unit::Impl::may_help(std::chrono::nanoseconds timeout) const noexcept {
  return callers_may_run() &&
         kWakesOfShort * lanes_->wake_ns() <= timeout.count() / kTimesWithinLimit &&
         !Dispatcher::Impl::is_its_thread();
}

// Makes the calling thread the owner of the unit. Returns the lane that it borrows; kNoLane,
// without an effect, if a lane or another thread owns the unit, or no lane sleeps.
LaneId Unit::Impl::begin_help() {
  const LaneId lane = lanes_->borrow_ready(*this);
  if (lane != kNoLane) running_->on_borrowed_lane = true;
  return lane;
}

// Runs the next request, if there is one. Returns false if the unit is no longer the caller's, and
// neither is the lane.
bool Unit::Impl::help_with_next(LaneId lane) noexcept {
  if (!has_work()) {
    end_help(lane);
    return false;
  }
  const DefaultFloatEnvironment floats;
  // As the owner this thread needs no visit, since close() waits until it owns the unit. If it
  // gives this request up, it must not wait for this thread.
  inside_.leave();
  const bool still_owner = run_one(lane);
  inside_.enter();
  if (still_owner) return true;
  lanes_->give_back_late(lane);
  return false;
}

bool Unit::Impl::run_one_for_caller(LaneId lane) noexcept {
  running_->on_borrowed_lane = true;
  const DefaultFloatEnvironment floats;
  if (!run_one(lane)) return false;
  running_->on_borrowed_lane = false;
  return true;
}

// Runs a request of any unit that is ready while a lane has this unit. Returns false if there is
// none. If that request hangs, this unit must not wait for this thread when it closes.
bool Unit::Impl::help_other_unit() {
  const int64_t longest_ns = std::max(kWakesOfOthers * lanes_->wake_ns(),
                                      kTimesOwnRun * mean_run_ns_.load(std::memory_order_relaxed));
  inside_.leave();
  const bool ran = lanes_->run_one_for_caller(longest_ns);
  inside_.enter();
  return ran;
}

void Unit::Impl::end_help(LaneId lane) noexcept {
  running_->on_borrowed_lane = false;
  lanes_->give_back(*this, lane);
}

void Unit::help(const std::atomic<bool>& done, std::chrono::nanoseconds timeout) {
  if (!impl_->may_help(timeout)) return;
  std::shared_ptr<Source> kept;
  const Visit visit(impl_->waiters());
  impl_->help(deadline_after(timeout), kept, [&] { return done.load(std::memory_order_acquire); });
}

}  // namespace millrace::queue
