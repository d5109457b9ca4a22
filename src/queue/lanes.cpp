#include "queue/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/log.h"
#include "queue/lanes_impl.h"
#include "queue/spin.h"

namespace millrace::queue {

Lanes::Lanes(LanesOptions options) : impl_(std::make_unique<Impl>(options)) {}

Lanes::~Lanes() = default;

uint32_t Lanes::count() const noexcept {
  return impl_->count();
}

Lanes::Impl::Impl(const LanesOptions& options)
    : spin_(std::max(options.spin, std::chrono::microseconds::zero())) {
  threads_.reserve(options.count);
  for (LaneId lane = 0; lane < options.count; ++lane) {
    spin_budget::take();
    sleepers_.begin_search();
    try {
      threads_.emplace_back([this, lane] { run_lane(lane); });
    } catch (const std::system_error& error) {
      sleepers_.end_search();
      spin_budget::give();
      log(LogLevel::kError, "queue",
          fmt::format("only {} of {} lanes could be started: {}", lane, options.count,
                      error.what()));
      return;
    }
  }
}

Lanes::Impl::~Impl() {
  sleepers_.stop();
  for (std::thread& thread : threads_) thread.join();
}

void Lanes::Impl::schedule(Source& source) noexcept {
  // Pairs with let_go: see there.
  if (!source.try_move(Source::State::kIdle, Source::State::kScheduled)) return;
  ready_.push(source);
  tell_withdrawer(source);
  sleepers_.wake_one();
}

void Lanes::Impl::run_lane(LaneId lane) {
  std::shared_ptr<Source> held;
  while (find_work(held)) {
    do {
      held->run_one(lane);
    } while (continue_with_oldest(held));
  }
  spin_budget::give();
}

// After a request: goes on with the held source if nobody else has work, which needs no lock. False
// when the held source has no more work; it stays held, in the hope of more.
bool Lanes::Impl::continue_with_oldest(std::shared_ptr<Source>& held) {
  if (!held->has_work()) {
    sleepers_.begin_search();
    return false;
  }
  if (ready_.empty()) return true;
  std::shared_ptr<Source> oldest = ready_.exchange(*held);
  tell_withdrawer(*held);
  sleepers_.wake_one();
  held = std::move(oldest);
  return true;
}

bool Lanes::Impl::find_work(std::shared_ptr<Source>& held) {
  for (;;) {
    const std::chrono::nanoseconds limit = spin_budget::fits() ? spin_ : spin_.zero();
    if (spin_until([&] { return poll(held); }, limit)) break;
    if (held && !let_go(*held)) break;
    held.reset();
    if (!sleepers_.park([this] { return !ready_.empty(); })) return false;
  }
  sleepers_.end_search();
  if (!ready_.empty()) sleepers_.wake_one();
  return true;
}

// Looks once for work, in the held source and in the ready list. True: `held` is what to run.
//
// The source that ran last stays held while its lane searches, so that a submitter who keeps it
// busy touches nothing but the ring. The lane lets go of it as soon as another one has work.
bool Lanes::Impl::poll(std::shared_ptr<Source>& held) {
  if (held && held->has_work()) {
    if (!ready_.empty()) {
      std::shared_ptr<Source> oldest = ready_.exchange(*held);
      tell_withdrawer(*held);
      held = std::move(oldest);
    }
    return true;
  }
  // Read once: a source still held below must not be overwritten by one that came meanwhile.
  const bool others_ready = !ready_.empty();
  if (held && (held->closing() || others_ready)) {
    if (!let_go(*held)) return true;
    held.reset();
  }
  if (!others_ready) return false;
  held = ready_.pop();
  return held != nullptr;
}

// Gives up a source that seems to have no work. False when work came meanwhile and this lane owns
// the source again.
//
// A submitter stores the request and then reads the state (schedule); this stores the state and
// then reads the request. All four are sequentially consistent, so either the submitter sees the
// source idle and schedules it, or it is seen here. The same holds for `closing_` and withdraw.
bool Lanes::Impl::let_go(Source& source) noexcept {
  source.state_.store(Source::State::kIdle, std::memory_order_seq_cst);
  if (source.has_work() && source.try_move(Source::State::kIdle, Source::State::kScheduled))
    return false;
  tell_withdrawer(source);
  return true;
}

void Lanes::Impl::withdraw(Source& source) {
  source.closing_.store(true, std::memory_order_seq_cst);
  std::unique_lock lock(withdraw_mutex_);
  handed_over_.wait(lock, [&] {
    if (source.try_move(Source::State::kIdle, Source::State::kClosed)) return true;
    if (!ready_.remove(source)) return false;
    source.state_.store(Source::State::kClosed, std::memory_order_seq_cst);
    return true;
  });
}

// Called after the source was left idle or put into the ready list.
void Lanes::Impl::tell_withdrawer(const Source& source) noexcept {
  if (!source.closing()) return;
  const std::lock_guard lock(withdraw_mutex_);
  handed_over_.notify_all();
}

}  // namespace millrace::queue
