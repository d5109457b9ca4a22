// How the dispatcher accepts calls, how strands wait until theirs have run, and how it stops.
#include "queue/callbacks/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/cancellation.h"
#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/process/process_exit.h"
#include "queue/callbacks/dispatcher_impl.h"
#include "queue/waiting/process_wide.h"

namespace millrace::queue {

std::shared_ptr<Dispatcher> Dispatcher::instance() {
  return process_wide<Dispatcher>();
}

Dispatcher::Dispatcher(std::chrono::nanoseconds patience)
    : impl_(std::make_shared<Impl>(patience)) {}

Dispatcher::~Dispatcher() {
  if (is_forked_child())
    never_destroy(impl_);
  else
    impl_->stop();
}

Status Dispatcher::Impl::start(Strand::State& strand) noexcept {
  if (strand.started.load(std::memory_order_acquire) &&
      threads_.load(std::memory_order_relaxed) != 0) [[likely]]
    return {};
  const std::lock_guard lock(mutex_);
  if (threads_.load(std::memory_order_relaxed) == 0)
    MILLRACE_RETURN_IF_ERROR(start_thread_locked());
  if (strand.started.load(std::memory_order_relaxed)) return {};
  if (strands_ > 0 || is_busy()) {  // a single strand cannot delay another one
    MILLRACE_RETURN_IF_ERROR(monitor_->start());
    may_watch_ = true;
  }
  ++strands_;
  strand.started.store(true, std::memory_order_release);
  return {};
}

void Dispatcher::Impl::forget(Strand::State& strand) noexcept {
  if (!strand.started.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  --strands_;
}

void Dispatcher::Impl::post(const StrandPointer& strand, PreparedCall call) noexcept {
  Lock lock(mutex_);
  strand->calls.push(std::move(call));
  ++strand->posted;
  if (strand->scheduled) return;
  schedule(strand);
  const Status started =
      threads_.load(std::memory_order_relaxed) == 0 ? start_thread_locked() : Status();
  const bool wakes = idle_ > 0;
  const std::shared_ptr<Monitor> monitor = wakes ? nullptr : begin_watch();
  lock.unlock();
  if (wakes) work_.notify_one();
  if (monitor) ask(*monitor);
  log_refusal(started);
}

// Appends the strand to the list of ready strands. Requirement: mutex_ is held, and the strand has
// calls and is idle.
void Dispatcher::Impl::schedule(StrandPointer strand) noexcept {
  Strand::State* const last = strand.get();
  last->scheduled = true;
  (last_ready_ != nullptr ? last_ready_->next : first_ready_) = last;
  last_ready_ = last;
  last->self = std::move(strand);
}

// Call while every thread is busy. If strands are ready, returns the monitor, from which the caller
// then requests a check that they have had their turn (ask(), without the mutex). Otherwise null.
// Requirement: mutex_ is held.
std::shared_ptr<Monitor> Dispatcher::Impl::begin_watch() noexcept {
  if (first_ready_ == nullptr || watching_ || stopping_ || !may_watch_) return nullptr;
  watching_ = true;
  seen_taken_ = taken_;
  return monitor_;
}

// Requests a call of on_time(). If stop() has run in between, no other thread removes this object
// from the monitor's list, so this function does.
void Dispatcher::Impl::ask(Monitor& monitor) noexcept {
  monitor.call_at(std::chrono::steady_clock::now() + patience_, shared_from_this());
  Lock lock(mutex_);
  if (!stopping_) return;
  lock.unlock();
  monitor.forget(*this);
}

bool Dispatcher::Impl::is_busy() const noexcept {
  return first_ready_ != nullptr ||
         std::ranges::any_of(slots_, [](const Slot& slot) { return slot.strand != nullptr; });
}

// Returns whether the calling callback would wait for itself, directly or through other strands, as
// when callbacks close each other's units. Requirement: mutex_ is held.
bool Dispatcher::Impl::would_wait_for_itself(const Strand::State& strand) noexcept {
  for (const Strand::State* next = &strand; next != nullptr; next = next->waits_for)
    if (next == running_) return true;
  return false;
}

void Dispatcher::Impl::drain(Strand::State& strand) {
  const CancellationOff whole;
  Lock lock(mutex_);
  uint64_t last = strand.posted;
  if (on_this_thread()) {
    const bool waits = strand.runs_on != std::thread::id() && !would_wait_for_itself(strand);
    last = waits ? std::min(last, strand.done + 1) : strand.done;
  }
  bool logged = false;
  Strand::State* const waiting = running_;
  if (waiting != nullptr) waiting->waits_for = &strand;
  const auto is_drained = [&] { return strand.done >= last; };
  while (!is_drained()) {
    // There may be no thread: a callback has ended the only one, and the system refused another.
    if (threads_.load(std::memory_order_relaxed) == 0)
      if (const Status started = start_thread_locked(); !started.ok()) {
        lock.unlock();
        log_refusal(started);
        lock.lock();
      }
    if (!strand.finished.wait_for(lock, patience_, is_drained) &&
        !must_go_on_waiting(strand, logged, lock))
      break;
  }
  if (waiting != nullptr) waiting->waits_for = nullptr;
}

bool Dispatcher::Impl::must_go_on_waiting(const Strand::State& strand, bool& logged, Lock& lock) {
  lock.unlock();
  const bool exiting = is_inside_exit();
  if (!std::exchange(logged, true))
    log_format(exiting ? LogLevel::kError : LogLevel::kWarning, "queue",
               "a callback of {} has not returned for {:g} s: {}", strand.name, seconds(patience_),
               exiting ? "the process exits without it" : "the close waits for it");
  lock.lock();
  return !exiting;
}

void Dispatcher::Impl::stop() {
  const CancellationOff whole;
  std::shared_ptr<Monitor> monitor;
  {
    Lock lock(mutex_);
    stopping_ = true;
    work_.notify_all();
    monitor.swap(monitor_);
    if (!on_this_thread()) end_threads(lock);
    for (Slot& slot : slots_)
      if (slot.thread.joinable()) slot.thread.detach();
  }
  monitor->forget(*this);
}

}  // namespace millrace::queue
