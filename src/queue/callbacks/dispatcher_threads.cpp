// How callbacks run, and on how many threads.
#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <new>

#include "base/contained.h"
#include "base/float_environment.h"
#include "base/log.h"
#include "base/process/thread.h"
#include "queue/callbacks/dispatcher_impl.h"

namespace millrace::queue {

// A thread's time with the dispatcher. A callback may end the thread, which unwinds its stack: then
// another one takes its place.
class Dispatcher::Impl::Service {
 public:
  Service(Impl& dispatcher, Slot& slot) noexcept : dispatcher_(dispatcher), slot_(slot) {
    serving_ = &dispatcher;
  }
  ~Service() {
    serving_ = nullptr;
    log_refusal(leave());
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

 private:
  // Returns the status of starting the replacement thread, if one is needed.
  Status leave() noexcept {
    const std::lock_guard lock(dispatcher_.mutex_);
    slot_.in_use = false;
    dispatcher_.threads_.fetch_sub(1, std::memory_order_relaxed);
    dispatcher_.ended_.notify_all();
    const bool wanted = dispatcher_.first_ready_ != nullptr || !dispatcher_.stopping_;
    return wanted && dispatcher_.idle_ == 0 ? dispatcher_.start_thread_locked() : Status();
  }

  Impl& dispatcher_;
  Slot& slot_;
};

// A strand's turn on a thread, without the lock. However a call ends, it is counted, and those
// behind it keep their order.
class Dispatcher::Impl::Turn {
 public:
  Turn(Impl& dispatcher, Slot& slot, StrandPointer strand) noexcept
      : dispatcher_(dispatcher), slot_(slot), strand_(std::move(strand)) {
    calls_.swap(strand_->calls);
    slot_.strand = strand_.get();
    strand_->runs_on = std::this_thread::get_id();
    running_ = strand_.get();
    dispatcher_.mutex_.unlock();
  }
  ~Turn() {
    const std::lock_guard lock(dispatcher_.mutex_);
    if (calls_begun_ != calls_counted_) count_locked();
    slot_.strand = nullptr;
    running_ = nullptr;
    strand_->runs_on = {};
    while (!strand_->calls.empty()) calls_.push(strand_->calls.pop());
    strand_->calls.swap(calls_);
    strand_->scheduled = false;
    if (!strand_->calls.empty()) dispatcher_.schedule(std::move(strand_));
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void run() {
    while (!calls_.empty()) {
      ++calls_begun_;
      // The objects that the call captured are destroyed on this thread, before drain() returns.
      run_contained(calls_.pop());
      const std::lock_guard lock(dispatcher_.mutex_);
      count_locked();
    }
  }

 private:
  void count_locked() noexcept {
    ++calls_counted_;
    ++strand_->done;
    strand_->finished.notify_all();
  }

  Impl& dispatcher_;
  Slot& slot_;
  StrandPointer strand_;
  CallQueue calls_;
  uint64_t calls_begun_ = 0, calls_counted_ = 0;
};

void Dispatcher::Impl::serve(size_t index) {
  Slot& slot = slots_[index];
  const Service service(*this, slot);
  Lock lock(mutex_);
  for (;;) {
    // One idle thread is enough.
    if (first_ready_ == nullptr && (stopping_ || idle_ > 0)) return;
    if (first_ready_ == nullptr) {
      ++idle_;
      work_.wait(lock, [this] { return first_ready_ != nullptr || stopping_; });
      --idle_;
      continue;
    }
    run_next(slot, lock);
  }
}

// The lock is not held while the calls run.
void Dispatcher::Impl::run_next(Slot& slot, Lock& lock) {
  StrandPointer strand = take_ready();
  std::shared_ptr<Monitor> monitor = begin_watch();
  lock.release();
  {
    Turn turn(*this, slot, std::move(strand));
    // Not kept: the last pointer to the monitor must not end under the lock.
    if (const auto asked = std::move(monitor)) ask(*asked);
    turn.run();
  }
  lock = Lock(mutex_);
}

// A forced unwind ends the thread, so it must not be caught. Each call begins in the default
// floating-point environment, whatever the previous call has left.
void Dispatcher::Impl::run_contained(const PreparedCall& call) {
  const DefaultFloatEnvironment floats;
  try {
    call();
  } catch (const std::exception& error) {
    log_format(LogLevel::kError, "queue", "a completion callback threw: {}", error.what());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    log(LogLevel::kError, "queue", "a completion callback threw something unknown");
  }
}

Dispatcher::Impl::StrandPointer Dispatcher::Impl::take_ready() noexcept {
  Strand::State* const first = first_ready_;
  first_ready_ = std::exchange(first->next, nullptr);
  if (first_ready_ == nullptr) last_ready_ = nullptr;
  ++taken_;
  return std::move(first->self);
}

// Requirement: mutex_ is held, and there is a slot.
Status Dispatcher::Impl::start_thread_locked() noexcept {
  const auto slot = std::ranges::find(slots_, false, &Slot::in_use);
  const auto index = static_cast<size_t>(slot - slots_.begin());
  // One that has left serve(): it ends now.
  if (slot->thread.joinable()) slot->thread.detach();
  return contained([&]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(
        slot->thread,
        start_thread("millrace-calls", [self = shared_from_this(), index] { self->serve(index); }));
    slot->in_use = true;
    threads_.fetch_add(1, std::memory_order_relaxed);
    return {};
  });
}

// Logs that the system refuses a thread, if there is nobody to tell; later calls try again. Not to
// be called under the lock, as the log may call the program.
void Dispatcher::Impl::log_refusal(const Status& started) noexcept {
  if (!started.ok()) log(LogLevel::kError, "queue", started.message());
}

// Starts another thread when no strand has had its turn since the last look.
void Dispatcher::Impl::on_time() noexcept {
  Lock lock(mutex_);
  watching_ = false;
  if (first_ready_ == nullptr || stopping_) return;
  const bool stuck = seen_taken_ == taken_;
  std::string names;
  Status started;
  if (stuck) {
    names = names_of_busy_strands();
    const bool full = threads_.load(std::memory_order_relaxed) == kMaxThreads;
    started =
        full ? Status(StatusCode::kResourceExhausted, "there are no more threads for callbacks")
             : start_thread_locked();
  }
  const std::shared_ptr<Monitor> monitor = begin_watch();
  if (stuck && started.ok()) ++seen_taken_;  // the new thread takes one
  lock.unlock();
  if (stuck) log_held_up(names, started);
  if (monitor) ask(*monitor);
}

// As many as there is memory for. Requirement: mutex_ is held.
std::string Dispatcher::Impl::names_of_busy_strands() const noexcept {
  std::string names;
  try {
    for (const Slot& slot : slots_)
      if (slot.strand != nullptr) names += (names.empty() ? "" : ", ") + slot.strand->name;
  } catch (const std::bad_alloc&) {
    return names;
  }
  return names;
}

void Dispatcher::Impl::log_held_up(const std::string& names, const Status& started) const noexcept {
  if (started.ok())
    log_format(LogLevel::kWarning, "queue",
               "callbacks of {} take long: after {:g} s those of others go on on another thread",
               names, seconds(patience_));
  else
    log_format(LogLevel::kError, "queue",
               "callbacks of {} take long: after {:g} s those of others still wait: {}", names,
               seconds(patience_), started.message());
}

// Joins the threads that end in time.
void Dispatcher::Impl::end_threads(Lock& lock) {
  if (!ended_.wait_for(lock, patience_,
                       [this] { return threads_.load(std::memory_order_relaxed) == 0; })) {
    lock.unlock();
    log_format(LogLevel::kWarning, "queue",
               "callbacks have not returned for {:g} s: their threads are left to run",
               seconds(patience_));
    lock.lock();
  }
  for (Slot& slot : slots_)
    if (!slot.in_use && slot.thread.joinable()) slot.thread.join();
}

}  // namespace millrace::queue
