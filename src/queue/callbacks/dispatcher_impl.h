// Dispatcher::Impl: the implementation of Dispatcher, with its threads and a linked list of the
// strands that are ready. One mutex guards all state. It is not held while a call runs or a line is
// logged.
//
//   dispatcher.cpp          accepting calls, and waiting for them
//   dispatcher_threads.cpp  running them, and the number of threads
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "queue/callbacks/dispatcher.h"
#include "queue/callbacks/strand.h"
#include "queue/waiting/monitor.h"

namespace millrace::queue {

struct Strand::State {
  explicit State(std::string strand_name) : name(std::move(strand_name)) {}

  const std::string name;
  std::atomic<bool> started{false};
  // The other members are guarded by the dispatcher's mutex.
  CallQueue calls;
  uint64_t posted = 0;
  uint64_t done = 0;
  std::condition_variable finished;  // `done` changed
  bool scheduled = false;            // ready or running
  std::thread::id runs_on;           // the thread that runs its calls; none between its turns
  const State* waits_for = nullptr;  // the strand that its running call drains
  State* next = nullptr;             // next in the list of ready strands
  std::shared_ptr<State> self;       // keeps it alive while it is in that list
};

class Dispatcher::Impl final : public Watched, public std::enable_shared_from_this<Impl> {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using StrandPointer = std::shared_ptr<Strand::State>;

  explicit Impl(std::chrono::nanoseconds patience) : patience_(patience) {}
  // Detaches the threads that were started after stop(), for the remaining calls.
  ~Impl() override {
    for (Slot& slot : slots_)
      if (slot.thread.joinable()) slot.thread.detach();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status start(Strand::State& strand) noexcept;
  void forget(Strand::State& strand) noexcept;
  void post(const StrandPointer& strand, PreparedCall call) noexcept;
  void drain(Strand::State& strand);
  // Returns whether the calling thread runs a call of that strand.
  static bool runs_here(const Strand::State& strand) noexcept { return running_ == &strand; }
  // Returns whether the calling thread is one of a dispatcher.
  static bool is_its_thread() noexcept { return serving_ != nullptr; }
  // Ends the threads as described at ~Dispatcher.
  void stop();

  void on_time() noexcept override;

 private:
  class Service;
  class Turn;
  struct Slot {
    std::thread thread;
    const Strand::State* strand = nullptr;  // the strand that the thread serves
    bool in_use = false;
  };

  void serve(size_t slot);
  void run_next(Slot& slot, Lock& lock);
  static void run_contained(const PreparedCall& call);
  void schedule(StrandPointer strand) noexcept;
  StrandPointer take_ready() noexcept;
  std::shared_ptr<Monitor> begin_watch() noexcept;
  void ask(Monitor& monitor) noexcept;
  Status start_thread_locked() noexcept;
  static void log_refusal(const Status& started) noexcept;
  bool is_busy() const noexcept;
  bool must_go_on_waiting(const Strand::State& strand, bool& logged, Lock& lock);
  void end_threads(Lock& lock);
  std::string names_of_busy_strands() const noexcept;
  void log_held_up(const std::string& names, const Status& started) const noexcept;
  bool on_this_thread() const noexcept { return serving_ == this; }
  static bool would_wait_for_itself(const Strand::State& strand) noexcept;

  // The dispatcher to which this thread belongs, if any.
  static inline constinit thread_local const Impl* serving_ = nullptr;
  // The strand of which this thread runs a call, if any.
  static inline constinit thread_local Strand::State* running_ = nullptr;

  static double seconds(std::chrono::nanoseconds time) noexcept {
    return std::chrono::duration<double>(time).count();
  }

  const std::chrono::nanoseconds patience_;
  std::mutex mutex_;
  std::condition_variable work_;   // a strand is ready, or stopping_ changed
  std::condition_variable ended_;  // threads_ has decreased
  std::shared_ptr<Monitor> monitor_ = Monitor::instance();  // null once stopped
  std::array<Slot, kMaxThreads> slots_;
  // The number of threads. start() reads it without the mutex, which guards all other members.
  std::atomic<size_t> threads_{0};
  size_t idle_ = 0;  // number of idle threads
  bool stopping_ = false;
  size_t strands_ = 0;  // number of strands that were started and still exist
  Strand::State* first_ready_ = nullptr;
  Strand::State* last_ready_ = nullptr;
  uint64_t taken_ = 0;       // number of strands taken from that list so far
  uint64_t seen_taken_ = 0;  // value of taken_ at the last check of the monitor
  bool may_watch_ = false;   // the monitor was started
  bool watching_ = false;    // a call of on_time() is pending
};

}  // namespace millrace::queue
