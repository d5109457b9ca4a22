// The protocol between lanes and sources. A lane searches (spinning), runs a source's requests,
// helps other lanes' requests, or sleeps. Ownership of a source changes by compare-and-swap on its
// state (source.h); no wake-up is lost because each side stores first and then reads what the other
// has stored, with sequential consistency (let_go, sleepers.h).
#include "queue/lanes/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "base/format_status.h"
#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/process/stack.h"
#include "base/process/thread.h"
#include "base/process/topology.h"
#include "queue/lanes/lanes_impl.h"

namespace millrace::queue {

Lanes::Lanes(LanesOptions options) : impl_(std::make_shared<Impl>(options)) {
  if (options.lazy) return;
  if (const Status started = impl_->start(); !started.ok())
    log(LogLevel::kError, "queue", started.message());
}

Lanes::~Lanes() {
  if (is_forked_child()) {
    never_destroy(impl_);
    return;
  }
  const CancellationOff whole;
  impl_->stop();
}

Status Lanes::fill_up() {
  return impl_->fill_up();
}

uint32_t Lanes::count() const noexcept {
  return std::min(impl_->count(), impl_->base_count());
}

uint32_t Lanes::id_limit() const noexcept {
  return impl_->id_limit();
}

uint32_t Lanes::quarantined() const noexcept {
  return impl_->quarantined();
}

Lanes::Impl::Impl(const LanesOptions& options)
    : base_(options.count),
      most_added_(options.lazy || options.core ? 0 : kMostAdded),
      wanted_(options.count),
      core_(options.core),
      thread_name_(options.thread_name),
      spins_(options.spin.count() > 0),
      live_(options.count),
      sleepers_(id_limit()),
      team_(sleepers_, id_limit(), options.count - std::min(options.count, 1U)) {
  // Reads the topology now: lanes use it and could not report a failed allocation.
  topology();
  for (uint32_t lane = 0; lane < id_limit(); ++lane) slots_.emplace_back(options.spin);
}

Lanes::Impl::~Impl() = default;

Status Lanes::Impl::start() {
  if (started_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(threads_mutex_);
  if (started_.load(std::memory_order_relaxed)) return {};
  live_.store(0, std::memory_order_seq_cst);
  start_missing_locked();
  if (count() == 0 && base_ != 0)
    return {StatusCode::kResourceExhausted,
            "the system refused to start any worker thread for the device"};
  started_.store(true, std::memory_order_release);
  return {};
}

Status Lanes::Impl::fill_up() {
  MILLRACE_RETURN_IF_ERROR(start());
  if (count() < wanted_) {
    const std::lock_guard lock(threads_mutex_);
    start_missing_locked();
  }
  if (count() != 0) return {};
  return {StatusCode::kNoLane,
          "the device has no worker thread (lane) left: every one was given up because its request "
          "hung, and no new thread could be started"};
}

Status Lanes::Impl::add_waiting_unit() {
  MILLRACE_RETURN_IF_ERROR(start());
  const std::lock_guard lock(threads_mutex_);
  const uint32_t units = waiting_units_ + 1;
  if (units > base_ + most_added_)
    return format_status(StatusCode::kResourceExhausted,
                         "{} units whose requests wait for each other need a lane each, and there "
                         "can be at most {}",
                         units, base_ + most_added_);
  const uint32_t before = wanted_;
  wanted_ = std::max(before, units);
  start_missing_locked();
  if (count() < units) {
    wanted_ = before;
    return format_status(StatusCode::kResourceExhausted,
                         "{} units whose requests wait for each other need a lane each, but the "
                         "system refuses to start another thread",
                         units);
  }
  waiting_units_ = units;
  return {};
}

void Lanes::Impl::remove_waiting_unit() noexcept {
  const std::lock_guard lock(threads_mutex_);
  --waiting_units_;
}

// Requirement: threads_mutex_ is held.
void Lanes::Impl::start_missing_locked() {
  const uint32_t before = count();
  while (!stopping_ && count() < wanted_ && start_lane_locked())
    live_.fetch_add(1, std::memory_order_seq_cst);
  if (count() < wanted_ && count() != before)
    log_format(LogLevel::kError, "queue", "only {} of {} lanes could be started", count(),
               wanted_.load());
}

// Called by a lane that is about to sleep; tries at most once a second.
void Lanes::Impl::start_missing_when_idle() {
  constexpr std::chrono::seconds kEvery{1};
  if (count() >= wanted_) [[likely]]
    return;
  const std::lock_guard lock(threads_mutex_);
  const Deadline now = std::chrono::steady_clock::now();
  if (now < try_again_at_) return;
  try_again_at_ = now + kEvery;
  start_missing_locked();
}

// Puts a spare lane into service or, if there is none, starts a thread with the first free id.
// Returns whether that succeeded. Requirement: threads_mutex_ is held.
bool Lanes::Impl::start_lane_locked() {
  if (const auto spare = std::ranges::find(slots_, true, &Slot::spare); spare != slots_.end()) {
    spare->spare = false;
    return_to_service(static_cast<LaneId>(spare - slots_.begin()));
    return true;
  }
  // There may be more slots than this limit, for lanes that units add.
  if (std::ranges::count(slots_, true, &Slot::in_use) >= wanted_ + kMaxQuarantined) return false;
  const auto slot = std::ranges::find(slots_, false, &Slot::in_use);
  if (slot == slots_.end()) return false;
  const auto lane = static_cast<LaneId>(slot - slots_.begin());
  spin_budget::take();
  sleepers_.begin_search();
  Status refused;
  try {
    // The thread shares ownership of this object, since a thread that hangs may outlive Lanes.
    Result<std::thread> thread =
        start_thread(thread_name_, [self = shared_from_this(), lane] { self->run_lane(lane); });
    if (thread.ok()) {
      slot->thread = *std::move(thread);
      slot->in_use = true;
      return true;
    }
    refused = thread.status();
  } catch (const std::bad_alloc&) {
    // Without memory no thread is started either.
  }
  sleepers_.end_search();
  // A thread that added work in the meantime may have counted on this lane, which was registered as
  // searching, and woken no other.
  if (!ready_.empty()) sleepers_.wake_one();
  spin_budget::give();
  if (!refused.ok()) log(LogLevel::kError, "queue", refused.message());
  return false;
}

void Lanes::Impl::stop() {
  {
    const std::lock_guard lock(threads_mutex_);
    stopping_ = true;  // from here on no thread is started
    credit_.forbid();
  }
  if (may_check_.load(std::memory_order_acquire)) monitor_->forget(*this);
  sleepers_.stop();
  for (Slot& slot : slots_) {
    std::thread serving;
    {
      const std::lock_guard lock(threads_mutex_);
      serving.swap(slot.thread);
    }
    if (serving.joinable()) serving.join();
  }
}

uint32_t Lanes::Impl::quarantined() {
  const std::lock_guard lock(threads_mutex_);
  return quarantined_;
}

void Lanes::Impl::schedule(Source& source) noexcept {
  // The state is read after the request was stored; let_go() is the other side of this protocol.
  if (!source.try_move(Source::State::kIdle, Source::State::kScheduled)) return;
  continue_elsewhere(source);
}

// Puts an owned source into the ready list.
void Lanes::Impl::continue_elsewhere(Source& source) noexcept {
  const bool wakes = !suits_callers(source) || is_one_lane_more_useful(lanes_that_will_look());
  ready_.push(source, wakes);
  notify_closer(source);
  wake_lane_or_check_later(wakes);
  // This thread pushes the source and then reads `live_`; replace() stores `live_` and then reads
  // the list. So at least one of the two threads fails the requests that no lane will run.
  if (count() == 0) fail_ready();
}

void Lanes::Impl::run_lane(LaneId lane) {
  if (core_)
    if (const Status pinned = pin_this_thread(*core_); !pinned.ok())
      log(LogLevel::kWarning, "queue", pinned.message());
  std::shared_ptr<Source> held;
  while (find_work(lane, held)) {
    do {
      set_will_look(lane, held->callers_may_run());
      if (!held->run_one(lane)) {
        set_will_look(lane, false);
        return come_back(lane);
      }
    } while (!steps_back(*held, lane) && continue_with_oldest(held));
    set_will_look(lane, false);
  }
  if (team_.is_set_aside(lane)) return come_back(lane);
  spin_budget::give();
}

// Chooses the next source after a request: the held one if no other source has work, without a
// lock; otherwise the one with the oldest request. Returns false if the held source has no more
// work. The lane keeps it and starts to search, since more may follow soon.
bool Lanes::Impl::continue_with_oldest(std::shared_ptr<Source>& held) {
  if (!held->has_work()) {
    sleepers_.begin_search();
    return false;
  }
  if (!ready_.empty()) exchange_with_oldest(held);
  return true;
}

// Puts the held source into the ready list and takes the one with the oldest request, which may be
// the same. This lane looks at the list again afterwards.
void Lanes::Impl::exchange_with_oldest(std::shared_ptr<Source>& held) {
  const bool wakes = !suits_callers(*held) || is_one_lane_more_useful(1 + lanes_that_will_look());
  std::shared_ptr<Source> oldest = ready_.exchange(*held, wakes);
  notify_closer(*held);
  if (oldest != held) credit_.lane_took();
  wake_lane_or_check_later(wakes);
  held = std::move(oldest);
}

bool Lanes::Impl::find_work(LaneId lane, std::shared_ptr<Source>& held) {
  bool has_helped = false;
  slots_[lane].only_one_since_ns = 0;
  if (held && is_for_callers(*held) && let_go(*held)) held.reset();
  for (;;) {
    const bool steps_back = std::exchange(slots_[lane].steps_back, false);
    const Found found = steps_back ? Found::kNothing : search(lane, held, has_helped);
    if (found == Found::kSource) break;
    if (found == Found::kChunk) {
      const Helped helped = help(lane, held);
      if (helped == Helped::kSetAside) return false;
      if (helped == Helped::kSourceHasWork) break;
      has_helped = true;
      continue;
    }
    if (held && !let_go(*held) && !(steps_back && leave_to_callers(*held))) break;
    held.reset();
    start_missing_when_idle();
    const auto has_work = [&] { return steps_back ? must_not_step_back() : !ready_.empty(); };
    if (!sleepers_.park(lane, has_work)) return false;
    has_helped = false;
  }
  set_will_look(lane, held->callers_may_run());  // until here it was counted as searching
  sleepers_.end_search();
  if (ready_.wants_lane()) sleepers_.wake_one();
  return true;
}

// Spins for a bounded time until there is a source to run (`held`) or a chunk of a request to take.
// It spins longer after the lane has computed a chunk, since a program that runs jobs one after
// another soon begins the next one, and longer while a request runs that may publish chunks.
Lanes::Impl::Found Lanes::Impl::search(LaneId lane, std::shared_ptr<Source>& held,
                                       bool has_helped) {
  // Covers the usual time from the last divided operator of a job to the first one of the next job.
  constexpr std::chrono::microseconds kBetweenJobs{100};
  // Covers most gaps between divided operators, such as those at the beginning of a network, where
  // operators have few channels.
  constexpr std::chrono::microseconds kBetweenOperators{400};
  Found found = Found::kNothing;
  const auto look = [&] {
    if (poll(lane, held))
      found = Found::kSource;
    else if (team_.has_chunk())
      found = Found::kChunk;
    return found != Found::kNothing;
  };
  if (slots_[lane].spin.until(look) || !spins_ || !spin_budget::fits()) return found;
  if (has_helped && spin_until(look, spin_budget::beside_others(kBetweenJobs))) return found;
  if (team_.expects_chunks())
    spin_until([&] { return look() || !team_.expects_chunks(); },
               spin_budget::beside_others(kBetweenOperators));
  return found;
}

// Computes chunks as long as there are some and no source is ready. Meanwhile this lane is not
// searching, as if it ran a request. Returns kSourceHasWork if the held source has received a
// request, which has to run first; kSetAside if the request that this lane helped was given up and
// this thread was replaced.
Lanes::Impl::Helped Lanes::Impl::help(LaneId lane, std::shared_ptr<Source>& held) {
  if (held && !let_go(*held)) return Helped::kSourceHasWork;
  held.reset();
  sleepers_.end_search();
  if (ready_.wants_lane()) sleepers_.wake_one();
  if (!team_.help(lane, [this] { return !ready_.empty(); })) return Helped::kSetAside;
  sleepers_.begin_search();
  return Helped::kNoMoreChunks;
}

// Looks once for work, in the held source and in the ready list. Returns true if `held` is a source
// to run.
//
// The lane keeps the source that ran last while it searches, so that a thread that submits to it
// accesses nothing but the ring. It lets go of the source as soon as another one has work; and
// before it searches (find_work) if the next request is rather for a thread that waits.
bool Lanes::Impl::poll(LaneId lane, std::shared_ptr<Source>& held) {
  if (held && held->has_work()) {
    if (!ready_.empty()) exchange_with_oldest(held);
    return true;
  }
  // Read only once: a source that is still held below must not be overwritten by one that became
  // ready in the meantime.
  const bool others_ready = !ready_.empty();
  if (held && (held->closing() || others_ready)) {
    if (!let_go(*held)) return true;
    held.reset();
  }
  if (!others_ready) {
    slots_[lane].only_one_since_ns = 0;
    return false;
  }
  if (waits_for_caller(lane)) return false;
  held = ready_.pop();
  if (held == nullptr) return false;
  credit_.lane_took();
  return true;
}

// Ends the ownership of a source that seems to have no work. Returns false if work has arrived in
// the meantime and this thread owns the source again.
//
// A submitter stores the request and then reads the state (schedule); this function stores the
// state and then reads the request. All four accesses are sequentially consistent, so either the
// submitter sees the source idle and schedules it, or its request is seen here. The same holds for
// `closing_` and the state in reclaim().
bool Lanes::Impl::let_go(Source& source) noexcept {
  source.state_.store(Source::State::kIdle, std::memory_order_seq_cst);
  if (source.has_work() && source.try_move(Source::State::kIdle, Source::State::kScheduled))
    return false;
  notify_closer(source);
  return true;
}

void Lanes::Impl::give_back_late(LaneId lane) noexcept {
  {
    const std::lock_guard lock(threads_mutex_);
    team_.readmit(lane);
    --quarantined_;
    // Usually another lane has been started in its place.
    slots_[lane].spare = count() >= wanted_;
    if (slots_[lane].spare) return;
    live_.fetch_add(1, std::memory_order_seq_cst);
  }
  return_to_service(lane);
}

// Gives back a lane that was set aside while it was borrowed; its own thread has slept since.
void Lanes::Impl::return_to_service(LaneId lane) noexcept {
  sleepers_.give_back(lane, [this] { return !ready_.empty(); });
}

void Lanes::Impl::resume(Source& source) noexcept {
  if (!let_go(source)) continue_elsewhere(source);
}

bool Lanes::Impl::own(Source& source) {
  return source.try_move(Source::State::kIdle, Source::State::kScheduled) || ready_.remove(source);
}

bool Lanes::Impl::replace(LaneId lane, bool borrowed) {
  bool replaced = false;
  {
    const std::lock_guard lock(threads_mutex_);
    team_.give_up(lane);  // before new threads start, which would help it otherwise
    replaced = set_aside_locked(lane, borrowed);
    for (LaneId helper = 0; helper < id_limit(); ++helper)
      if (team_.set_aside(helper, lane)) set_aside_locked(helper, false);
  }
  if (count() == 0) fail_ready();
  return replaced;
}

// Takes a hanging thread out of service. Returns whether a new thread was started in its place.
// Requirement: threads_mutex_ is held.
bool Lanes::Impl::set_aside_locked(LaneId lane, bool borrowed) {
  credit_.forbid();  // the lane does not look at the ready list soon
  if (!borrowed) {
    std::thread& hung = slots_[lane].thread;
    if (hung.joinable()) hung.detach();
    spin_budget::give();
  }
  const bool replaced = quarantined_ < kMaxQuarantined && !stopping_ && start_lane_locked();
  ++quarantined_;
  if (!replaced) live_.fetch_sub(1, std::memory_order_seq_cst);
  return replaced;
}

// Called by a thread that was set aside and has returned from its request, or from its chunk of
// another lane's request. The thread ends, and its id is free again.
void Lanes::Impl::come_back(LaneId lane) {
  const std::lock_guard lock(threads_mutex_);
  team_.readmit(lane);
  slots_[lane].in_use = false;
  --quarantined_;
  start_missing_locked();
}

// Fails all ready requests. The thread that adds work calls this when there are no lanes.
void Lanes::Impl::fail_ready() noexcept {
  while (const std::shared_ptr<Source> source = ready_.pop()) {
    while (source->has_work()) source->run_one(kNoLane);
    if (!let_go(*source)) ready_.push(*source, true);
  }
}

bool Lanes::Impl::reclaim(Source& source, Deadline deadline) {
  source.closing_.store(true, std::memory_order_seq_cst);
  std::unique_lock lock(reclaim_mutex_);
  return reclaimable_.wait_until(lock, deadline, [&] {
    if (!own(source)) return false;
    source.state_.store(Source::State::kClosed, std::memory_order_seq_cst);
    return true;
  });
}

// Wakes the threads in reclaim(). Called after the source became idle or entered the ready list.
void Lanes::Impl::notify_closer(const Source& source) noexcept {
  if (!source.closing()) return;
  const std::lock_guard lock(reclaim_mutex_);
  reclaimable_.notify_all();
}

}  // namespace millrace::queue
