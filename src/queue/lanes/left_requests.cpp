// Requests that threads run while they wait, on borrowed lanes, and requests that are left to such
// threads: no lane is woken for them, and lanes that are awake make room. unit_help.cpp has the
// side of the thread that waits.
//
// The aim is that as many threads compute as there are cores, and that none of them sleeps between
// two short requests, since a wake takes longer than these. So while threads that wait run requests
// (CallerCredit), a lane that becomes idle does not keep its source, and looks for a moment whether
// the only ready request is taken by the thread that submitted it. And where all lanes are awake
// while a thread waits that would run requests, one lane steps back: it leaves its source to that
// thread and sleeps, and the thread borrows it.
//
// None of this may lose a request. A source that is left is in the ready list, and the monitor
// looks after a few milliseconds whether it still is (on_time).
#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/process/stack.h"
#include "queue/lanes/lanes_impl.h"

namespace millrace::queue {

// Returns whether a ready source may be left to threads that wait, because they have run such
// requests lately.
bool Lanes::Impl::suits_callers(const Source& source) const noexcept {
  return credit_.any() && may_check_.load(std::memory_order_acquire) && source.may_be_left();
}

// Returns the number of lanes that are awake and will look at the ready list soon. A heuristic.
uint32_t Lanes::Impl::lanes_that_will_look() const noexcept {
  return short_runs_.load(std::memory_order_relaxed) + sleepers_.searching();
}

// Returns whether one lane more would find work that neither the `awake` lanes nor the thread that
// waits take next, and a core: there are as many cores as lanes, and the waiting thread has one.
bool Lanes::Impl::is_one_lane_more_useful(uint32_t awake) const noexcept {
  return awake + 1 < base_ && ready_.left() > awake;
}

// Call after a source was added to the ready list.
void Lanes::Impl::wake_lane_or_check_later(bool wakes) noexcept {
  if (wakes) [[likely]]
    sleepers_.wake_one();
  else
    check_later();
}

// Has the monitor call on_time() soon, unless a call is pending. A thread that leaves a source in
// the list adds it and then exchanges `check_pending_`; on_time() stores it and then reads the
// list. All are sequentially consistent, so the pending call finds the source, or there is another.
void Lanes::Impl::check_later() noexcept {
  if (check_pending_.load(std::memory_order_seq_cst) ||
      check_pending_.exchange(true, std::memory_order_seq_cst))
    return;
  const std::lock_guard lock(threads_mutex_);
  call_soon_locked();
}

// After stop() nothing may be registered with the monitor.
void Lanes::Impl::call_soon_locked() noexcept {
  constexpr std::chrono::milliseconds kCheckAfter{5};
  if (!stopping_)
    monitor_->call_at(std::chrono::steady_clock::now() + kCheckAfter, shared_from_this());
}

// Puts lanes to work if the oldest request was ready at the last check already.
void Lanes::Impl::on_time() noexcept {
  const std::lock_guard lock(threads_mutex_);
  check_pending_.store(false, std::memory_order_seq_cst);
  const uint64_t newest_before =
      std::exchange(newest_at_check_, last_ticket_.load(std::memory_order_relaxed));
  if (ready_.empty()) return;
  const std::optional<uint64_t> oldest = ready_.oldest_ticket();
  if (oldest && *oldest <= newest_before) {
    ready_.want_lanes();
    sleepers_.wake_one();
  }
  if (!check_pending_.exchange(true, std::memory_order_seq_cst)) call_soon_locked();
}

// Without the monitor's thread no request is left to threads that wait, which only costs time.
void Lanes::Impl::prepare_checks() {
  if (base_ < 2 || core_) return;
  const std::lock_guard lock(threads_mutex_);
  if (monitor_ != nullptr || stopping_) return;
  monitor_ = Monitor::instance();
  may_check_.store(monitor_->start().ok(), std::memory_order_release);
}

// Counts this lane among those that will look at the ready list soon, or no longer: it runs short
// requests until it searches.
void Lanes::Impl::set_will_look(LaneId lane, bool will_look) noexcept {
  if (slots_[lane].will_look == will_look) return;
  slots_[lane].will_look = will_look;
  if (will_look)
    short_runs_.fetch_add(1, std::memory_order_relaxed);
  else
    short_runs_.fetch_sub(1, std::memory_order_relaxed);
}

// Returns whether the next request of a source that has none should rather be run by the thread
// that waits for it.
bool Lanes::Impl::is_for_callers(const Source& source) const noexcept {
  return credit_.any() && may_check_.load(std::memory_order_acquire) && source.callers_may_run();
}

// Returns whether a searching lane does not take the only ready request yet: the thread that has
// submitted it may be about to wait for it. A lane that took it would make that thread sleep.
bool Lanes::Impl::waits_for_caller(LaneId lane) noexcept {
  // Covers the time from a submit to the beginning of a wait.
  constexpr int64_t kGraceNs = 2'000;
  int64_t& since = slots_[lane].only_one_since_ns;
  if (!credit_.any() || ready_.wants_lane() || ready_.left() != 1) {
    since = 0;
    return false;
  }
  const int64_t now = now_ns();
  if (since == 0) since = now;
  return now - since < kGraceNs;
}

void Lanes::Impl::want_lane() noexcept {
  if (core_ || !may_check_.load(std::memory_order_acquire) || sleepers_.any_parked()) return;
  credit_.caller_waits();
  if (!credit_.any()) return;  // forbidden
  if (!caller_wants_lane_.load(std::memory_order_relaxed))
    caller_wants_lane_.store(true, std::memory_order_relaxed);
}

// Returns whether this lane, which has run a request of `held`, goes to sleep next, because a
// thread that waits wants to borrow it. Another lane must be awake that takes what is left.
bool Lanes::Impl::steps_back(const Source& held, LaneId lane) noexcept {
  if (!caller_wants_lane_.load(std::memory_order_relaxed)) [[likely]]
    return false;
  if (!held.callers_may_run() || ready_.wants_lane() || sleepers_.any_parked() ||
      lanes_that_will_look() < 2 || !caller_wants_lane_.exchange(false, std::memory_order_relaxed))
    return false;
  sleepers_.begin_search();
  slots_[lane].steps_back = true;
  return true;
}

// Returns whether a lane that steps back has to look for work instead of going to sleep: a request
// wants a lane, or all other lanes have fallen asleep meanwhile. Two lanes that fall asleep at the
// same time see each other: each counts itself as no longer searching and then reads this.
bool Lanes::Impl::must_not_step_back() const noexcept {
  return ready_.wants_lane() || (lanes_that_will_look() == 0 && !ready_.empty());
}

// Puts an owned source that has work into the ready list, for threads that wait. Returns false,
// without an effect, if its request must not be left to them.
bool Lanes::Impl::leave_to_callers(Source& source) noexcept {
  if (!suits_callers(source)) return false;
  ready_.push(source, false);
  notify_closer(source);
  check_later();
  return true;
}

LaneId Lanes::Impl::borrow(Source& source) noexcept {
  if (core_ || !has_stack(kStackForJobs)) return kNoLane;
  if (!source.try_move(Source::State::kIdle, Source::State::kScheduled)) return kNoLane;
  const LaneId lane = sleepers_.borrow();
  if (lane == kNoLane) resume(source);
  return lane;
}

// The lane comes first: without one the source stays where a lane will find it.
LaneId Lanes::Impl::borrow_ready(Source& source) {
  if (core_ || !has_stack(kStackForJobs)) return kNoLane;
  const LaneId lane = sleepers_.borrow();
  if (lane == kNoLane) return kNoLane;
  if (own(source)) {
    credit_.caller_ran();
    return lane;
  }
  sleepers_.give_back(lane, [this] { return ready_.wants_lane(); });
  return kNoLane;
}

void Lanes::Impl::give_back(Source& source, LaneId lane) noexcept {
  resume(source);
  sleepers_.give_back(lane, [this] { return ready_.wants_lane(); });
}

bool Lanes::Impl::run_one_for_caller(int64_t longest_ns) {
  if (ready_.empty() || core_ || !has_stack(kStackForJobs)) return false;
  const LaneId lane = sleepers_.borrow();
  if (lane == kNoLane) return false;
  const std::shared_ptr<Source> source = ready_.pop_for_caller(longest_ns);
  if (source == nullptr) {
    sleepers_.give_back(lane, [this] { return ready_.wants_lane(); });
    return false;
  }
  credit_.caller_ran();
  if (source->run_one_for_caller(lane))
    give_back(*source, lane);
  else
    give_back_late(lane);
  return true;
}

}  // namespace millrace::queue
