// How callbacks run, and on how many threads. A thread takes one ready strand after another and
// runs all calls that the strand has at that moment. A callback may throw, or end its thread by a
// forced unwind (pthread_exit): the destructors of Turn and Service keep the counts right and start
// another thread if one is needed.
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

// Registers a thread with the dispatcher as long as it serves it. If a callback ends the thread,
// the unwinding calls the destructor, which starts another one in its place.
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

// A strand's turn on a thread, without the mutex. However a call ends, it is counted as done, and
// the calls after it keep their order.
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
      // The call is a temporary: what it has captured is destroyed on this thread, before drain()
      // can return.
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
    // One idle thread is enough; further ones end.
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

// Takes a ready strand and runs its calls. Requirement: `lock` holds mutex_, and a strand is ready.
// It is held again afterwards, but not while the calls run.
void Dispatcher::Impl::run_next(Slot& slot, Lock& lock) {
  StrandPointer strand = take_ready();
  std::shared_ptr<Monitor> monitor = begin_watch();
  lock.release();
  {
    Turn turn(*this, slot, std::move(strand));
    // The pointer is dropped here: the destructor of the monitor must not run under the mutex.
    if (const auto asked = std::move(monitor)) ask(*asked);
    turn.run();
  }
  lock = Lock(mutex_);
}

// Runs a call, and logs exceptions. A forced unwind, which ends the thread, has to be rethrown.
// Each call begins in the default floating-point environment, whatever the previous one has set.
void Dispatcher::Impl::run_contained(const PreparedCall& call) {
  const DefaultFloatEnvironment floats;
  try {
    call();
  } catch (const std::exception& error) {
    log_format(LogLevel::kError, "queue", "a completion callback threw: {}", error.what());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    log(LogLevel::kError, "queue",
        "a completion callback threw an exception that is not derived from std::exception");
  }
}

Dispatcher::Impl::StrandPointer Dispatcher::Impl::take_ready() noexcept {
  Strand::State* const first = first_ready_;
  first_ready_ = std::exchange(first->next, nullptr);
  if (first_ready_ == nullptr) last_ready_ = nullptr;
  ++taken_;
  return std::move(first->self);
}

// Requirement: mutex_ is held, and a slot is free.
Status Dispatcher::Impl::start_thread_locked() noexcept {
  const auto slot = std::ranges::find(slots_, false, &Slot::in_use);
  const auto index = static_cast<size_t>(slot - slots_.begin());
  // The slot's previous thread has left serve() and is about to end.
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

// Logs that the system refused a thread, where no caller can be told; later calls try again. Must
// not be called under the mutex, since the log sink may belong to the program.
void Dispatcher::Impl::log_refusal(const Status& started) noexcept {
  if (!started.ok()) log(LogLevel::kError, "queue", started.message());
}

// Starts another thread if strands are ready and none has had its turn since the last check.
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
        full ? Status(StatusCode::kResourceExhausted, "the limit of callback threads is reached")
             : start_thread_locked();
  }
  const std::shared_ptr<Monitor> monitor = begin_watch();
  if (stuck && started.ok()) ++seen_taken_;  // the new thread will take one strand
  lock.unlock();
  if (stuck) log_held_up(names, started);
  if (monitor) ask(*monitor);
}

// Lists the strands whose calls run, as many as there is memory for. Requirement: mutex_ is held.
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
               "callbacks of {} take long: after {:g} s those of others run on another thread",
               names, seconds(patience_));
  else
    log_format(LogLevel::kError, "queue",
               "callbacks of {} take long: after {:g} s those of others still wait: {}", names,
               seconds(patience_), started.message());
}

// Waits for the threads, at most for the patience, and joins those that have ended. Requirement:
// `lock` holds mutex_.
void Dispatcher::Impl::end_threads(Lock& lock) {
  if (!ended_.wait_for(lock, patience_,
                       [this] { return threads_.load(std::memory_order_relaxed) == 0; })) {
    lock.unlock();
    log_format(LogLevel::kWarning, "queue",
               "callbacks have not returned for {:g} s: their threads are left running",
               seconds(patience_));
    lock.lock();
  }
  for (Slot& slot : slots_)
    if (!slot.in_use && slot.thread.joinable()) slot.thread.join();
}

}  // namespace millrace::queue
