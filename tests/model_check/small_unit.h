// SmallUnit: what an execution unit does with its ring and its wait list, and nothing else. The
// ring and the list are the real ones, over the primitives of an exploration; the functions here
// take the steps of those of Unit::Impl with the same names, and check what a unit promises as they
// go.
//
// A Plant is a mistake built in on purpose: an exploration that does not find it finds nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "queue/requests/ring.h"
#include "queue/waiting/wait_list.h"
#include "tests/model_check/explore/shim_sync.h"

namespace millrace::model_check {

enum class Plant : uint8_t {
  kNone,
  kParksWithoutRecheck,     // a waiter adds itself without asking whether it is too late
  kWakesBeforeComplete,     // waiters are notified before the completion is published
  kWakesBeforeRemoved,      // the same for a removed request
  kRecordsAfterComplete,    // the result is recorded after the completion was published
  kRecordsAfterRemoved,     // the same for a removed request
  kStartsBeforeRelease,     // a request starts while the one before is still referred to
  kVacatesBeforeRelease,    // the cell of a removed request is vacated while it is referred to
  kPassesBeforeRemoved,     // the owner passes a request that a thread is just removing
  kCompletesWithoutFinish,  // a thread completes its request without asking whether it was given up
  kReleasesDuringGiveUp,    // a thread drops its references before who gave it up is done with them
  kLeavesWithoutRemove,     // a waiter whose deadline passed leaves without removing itself
  kStartsSilently,          // a cell becomes vacant and no thread that waits for room is notified
  kVacatesSilently,         // the same for the cell of a removed request
  kRunsOutOfTurn,           // a request runs unseen although others are before it
};

// The task of a request, and the state that says who is at it.
struct Task {
  enum class State : uint8_t { kReleased, kFilling, kQueued, kTaken };
  State state = State::kReleased;
  uint64_t counter = 0;
  explore::Watched memory;
};

// The content of a cell of the ring.
class Request {
 public:
  Request() = default;
  explicit Request(Task& task) : task_(&task) {}
  Request(Request&& other) noexcept : task_(other.take()) {}
  Request& operator=(Request&& other) noexcept {
    task_ = other.take();
    memory_.write();
    return *this;
  }
  ~Request() = default;
  Task& task() const {
    memory_.read();
    return *task_;
  }

 private:
  Task* take() noexcept {
    memory_.write();
    return std::exchange(task_, nullptr);
  }
  Task* task_ = nullptr;
  explore::Watched memory_;
};

// A waiter that forgets WaitList::remove. It lives as long as its unit, so that it can complain.
template <class Sync>
class LeavingWaiter final : public queue::WaitNode {
 public:
  using WaitNode::WaitNode;
  void on_completed() noexcept override {
    explore::require(!gone_, "a waiter is notified that is gone");
    parker_.unpark();
  }
  template <class IsCompleted>
  bool wait(queue::WaitList<Sync>& list, const IsCompleted& is_completed, Deadline deadline) {
    const bool completed = !list.add(*this, is_completed) || parker_.park_until(deadline);
    gone_ = true;
    return completed;
  }

 private:
  typename Sync::Parker parker_;
  bool gone_ = false;
};

// The protocol of queue/waiting/room.h, over the primitives of an exploration.
template <class Sync>
class SmallRoom {
 public:
  template <class HasRoom>
  void wait(const HasRoom& has_room) {
    mutex_.lock();
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    while (!has_room()) sleep();
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    mutex_.unlock();
  }
  void changed() {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex_); }
    ++changes_;
  }

 private:
  // Like a condition variable: nothing comes between the look at `changes_` and the unlock.
  void sleep() {
    const uint64_t before = changes_;
    mutex_.unlock();
    explore::await([&] { return changes_ != before; });
    mutex_.lock();
  }
  typename Sync::template Atomic<uint32_t> waiting_{0};
  typename Sync::Mutex mutex_;
  uint64_t changes_ = 0;
};

template <class Sync = explore::ShimSync>
class SmallUnit {
 public:
  // Makes as few cells as possible, so that they are used again soon.
  explicit SmallUnit(uint32_t depth, Plant plant = Plant::kNone)
      : plant_(plant), ring_(depth, 1), tasks_(ring_.cell_count() + kOwners) {
    for (uint64_t cell = 0; cell < ring_.cell_count(); ++cell)
      ring_.request(cell) = Request(tasks_[cell]);
    for (int owner = 0; owner < kOwners; ++owner)
      running_[owner] = Request(tasks_[ring_.cell_count() + owner]);
  }

  uint64_t cell_count() const { return ring_.cell_count(); }
  bool has_room() const { return ring_.has_room(); }

  // --- Submitters.

  // The counter of the request, 0 when the unit is full or closed.
  uint64_t try_submit() { return try_submit_n(1).first; }
  // Up to `count` requests at once.
  struct Range {
    uint64_t first = 0;
    uint32_t count = 0;
  };
  Range try_submit_n(uint32_t count);
  // All of them, as many at once as places are free, waiting for room in between.
  void submit(uint32_t count = 1);

  // --- The owner: a lane (0), and the thread that takes the unit from it (1).

  // Runs and passes requests until `last` is done. False: the one that ran was given up, and the
  // unit has another owner.
  bool run_through(uint64_t last, int owner = 0);
  // Submits a request as the owner: the head runs at once and is never seen in its cell, another
  // one waits in the queue. Its counter, 0 when the unit is full or closed.
  uint64_t execute(int owner = 0);
  // Begins the head, which is ready, and leaves it running; end_head does the rest.
  void start_head(int owner = 0) { start(take_head(), owner); }
  bool end_head(int owner = 0) { return end(ring_.running(), owner); }

  // --- All threads.

  // Removes a request that waits in the queue; nothing if it does not.
  void cancel(uint64_t counter) {
    if (ring_.take(counter)) remove(counter);
  }
  // Completes the request that owner 0 runs, on its behalf. True: the caller is owner 1 now.
  bool give_up();
  // Refuses new requests and removes the queued ones once no submitter is inside. The caller owns
  // the unit.
  void close();
  // False: the deadline passed first.
  bool wait(uint64_t counter, Deadline deadline = kNoDeadline);
  // Asks `times` times whether a request is completed, and how many are not.
  void poll(uint64_t counter, int times);

  uint64_t issued() const { return ring_.issued(); }
  uint64_t running() const { return ring_.running(); }
  // The number of requests that the owners have completed or passed.
  uint64_t done() const { return done_; }

  // All that were issued have run or were removed and are completed, once, and left nothing.
  void check_end();

 private:
  static constexpr int kOwners = 2;
  static constexpr uint64_t kMaxRequests = 16;
  struct Result {
    int started = 0, removed = 0, recorded = 0, completed = 0;
    explore::Watched memory;
  };
  using Look = typename queue::Ring<Request, Sync>::Look;
  using Claim = typename queue::Ring<Request, Sync>::Claim;

  void fill(Task& task, uint64_t counter);
  bool has_work() const;
  bool run_one(int owner);
  uint64_t take_head();
  void pass_head();
  void start(uint64_t counter, int owner);
  void start_unseen(uint64_t counter, int owner);
  bool end(uint64_t counter, int owner);
  void publish_completion(uint64_t counter, Task& task);
  void abandon(Task& task);
  void remove(uint64_t counter);
  void notify();
  void take_over(Task& task, uint64_t counter);
  void release(Task& task);
  void release_late(int owner);
  void write_status(Task& task, uint64_t counter);
  void record(uint64_t counter);
  void read_result(uint64_t counter);
  bool has(Plant plant) const { return plant_ == plant; }

  const Plant plant_;
  queue::Ring<Request, Sync> ring_;
  queue::WaitList<Sync> waits_;
  SmallRoom<Sync> room_;
  typename Sync::Mutex watch_mutex_;  // giving up
  std::vector<Task> tasks_;
  std::array<Request, kOwners> running_;      // idle while the owner runs nothing
  std::array<Task*, kOwners> unreleased_{};   // of the request before (kStartsBeforeRelease)
  std::array<Result, kMaxRequests> results_;  // by counter
  std::vector<std::unique_ptr<LeavingWaiter<Sync>>> leaving_;
  uint64_t done_ = 0;
  int submitters_ = 0;  // between claim and publish
};

template <class Sync>
auto SmallUnit<Sync>::try_submit_n(uint32_t count) -> Range {
  Range range{0, count};
  ++submitters_;
  if (ring_.claim(range.first, range.count) != Claim::kOk) range = {};
  for (uint32_t i = 0; i < range.count; ++i)
    fill(ring_.request(range.first + i).task(), range.first + i);
  for (uint32_t i = 0; i < range.count; ++i) {
    ring_.publish(range.first + i);
    explore::note("published", range.first + i);
  }
  --submitters_;
  return range;
}

template <class Sync>
void SmallUnit<Sync>::submit(uint32_t count) {
  while (count > 0) {
    const uint32_t accepted = try_submit_n(count).count;
    if (accepted == 0) room_.wait([this] { return ring_.has_room(); });
    count -= accepted;
  }
}

template <class Sync>
void SmallUnit<Sync>::fill(Task& task, uint64_t counter) {
  explore::note("claimed", counter);
  explore::require(task.state == Task::State::kReleased,
                   "a submitter gets a cell whose last request is still in use");
  task.memory.write();
  task.state = Task::State::kFilling;
  task.counter = counter;
  explore::point();
  explore::require(task.state == Task::State::kFilling && task.counter == counter,
                   "two submitters fill the same cell");
  task.state = Task::State::kQueued;
}

template <class Sync>
uint64_t SmallUnit<Sync>::execute(int owner) {
  uint64_t counter = 0;
  uint32_t count = 1;
  ++submitters_;
  if (ring_.claim(counter, count) != Claim::kOk) counter = 0;
  const bool is_first = counter == ring_.head() || has(Plant::kRunsOutOfTurn);
  if (counter != 0)
    fill(is_first ? running_[owner].task() : ring_.request(counter).task(), counter);
  if (counter != 0 && !is_first) ring_.publish(counter);
  --submitters_;
  if (counter != 0 && is_first) {
    start_unseen(counter, owner);
    end(counter, owner);
  }
  return counter;
}

template <class Sync>
bool SmallUnit<Sync>::has_work() const {
  const uint64_t head = ring_.head();
  return ring_.look(head) != Look::kNothing ||
         (has(Plant::kPassesBeforeRemoved) && ring_.issued() >= head);
}

template <class Sync>
bool SmallUnit<Sync>::run_through(uint64_t last, int owner) {
  while (done_ < last) {
    explore::await([this] { return has_work(); });
    if (!run_one(owner)) return false;
  }
  release_late(owner);
  return true;
}

template <class Sync>
bool SmallUnit<Sync>::run_one(int owner) {
  const uint64_t counter = take_head();
  if (counter == 0) return true;
  start(counter, owner);
  return end(counter, owner);
}

template <class Sync>
uint64_t SmallUnit<Sync>::take_head() {
  bool passed = false;
  uint64_t head = ring_.head();
  for (;; head = ring_.head()) {
    const Look look = ring_.look(head);
    if (look == Look::kPassed) {
      pass_head();
      passed = true;
    } else if (look == Look::kNothing) {
      if (has(Plant::kPassesBeforeRemoved)) pass_head();
      head = 0;
      break;
    } else if (ring_.take(head)) {
      break;
    }
  }
  if (passed) notify();
  return head;
}

template <class Sync>
void SmallUnit<Sync>::pass_head() {
  ring_.pass();
  ++done_;
  explore::note("passed", done_);
}

template <class Sync>
void SmallUnit<Sync>::start(uint64_t counter, int owner) {
  take_over(ring_.request(counter).task(), counter);
  ++results_[counter].started;
  ring_.start(counter, running_[owner]);
  explore::note("started", counter);
  if (!has(Plant::kStartsSilently)) room_.changed();
  release_late(owner);
}

template <class Sync>
void SmallUnit<Sync>::start_unseen(uint64_t counter, int owner) {
  take_over(running_[owner].task(), counter);
  ++results_[counter].started;
  ring_.start_unseen(counter);
  explore::note("started unseen", counter);
  room_.changed();
  release_late(owner);
}

template <class Sync>
bool SmallUnit<Sync>::end(uint64_t counter, int owner) {
  Task& task = running_[owner].task();
  const bool own = ring_.finish(counter) || has(Plant::kCompletesWithoutFinish);
  if (own) publish_completion(counter, task);
  if (!own)
    abandon(task);
  else if (has(Plant::kStartsBeforeRelease))
    unreleased_[owner] = &task;
  else
    release(task);
  return own;
}

template <class Sync>
void SmallUnit<Sync>::publish_completion(uint64_t counter, Task& task) {
  write_status(task, counter);
  if (!has(Plant::kRecordsAfterComplete)) record(counter);
  if (has(Plant::kWakesBeforeComplete)) waits_.completed_through(counter);
  ring_.complete();
  explore::note("completed", counter);
  ++done_;
  ++results_[counter].completed;
  if (has(Plant::kRecordsAfterComplete)) record(counter);
  while (ring_.look(ring_.head()) == Look::kPassed) pass_head();
  if (!has(Plant::kWakesBeforeComplete)) notify();
}

// The request was given up: the thread that did so may still use the task.
template <class Sync>
void SmallUnit<Sync>::abandon(Task& task) {
  if (!has(Plant::kReleasesDuringGiveUp)) {
    const std::lock_guard lock(watch_mutex_);
  }
  release(task);
}

template <class Sync>
void SmallUnit<Sync>::remove(uint64_t counter) {
  Task& task = ring_.request(counter).task();
  take_over(task, counter);
  ++results_[counter].removed;
  if (!has(Plant::kRecordsAfterRemoved)) record(counter);
  if (has(Plant::kWakesBeforeRemoved)) waits_.completed_alone(counter);
  ring_.complete_removed(counter);
  explore::note("removed", counter);
  ++results_[counter].completed;
  if (has(Plant::kRecordsAfterRemoved)) record(counter);
  if (!has(Plant::kWakesBeforeRemoved)) waits_.completed_alone(counter);
  notify();
  if (!has(Plant::kVacatesBeforeRelease)) release(task);
  ring_.vacate(counter);
  explore::note("vacated", counter);
  if (has(Plant::kVacatesBeforeRelease)) release(task);
  if (!has(Plant::kVacatesSilently)) room_.changed();
}

template <class Sync>
void SmallUnit<Sync>::notify() {
  waits_.completed_through(ring_.completed());
  room_.changed();
}

template <class Sync>
bool SmallUnit<Sync>::give_up() {
  const std::lock_guard lock(watch_mutex_);
  const uint64_t counter = ring_.running();
  if (counter == 0 || !ring_.finish(counter)) return false;
  explore::note("given up", counter);
  publish_completion(counter, running_[0].task());
  return true;
}

template <class Sync>
void SmallUnit<Sync>::close() {
  ring_.close();
  explore::note("closed", ring_.issued());
  explore::await([this] { return submitters_ == 0; });
  const uint64_t last = ring_.issued();
  for (uint64_t counter = ring_.head(); counter <= last; ++counter) cancel(counter);
  run_through(last);
}

template <class Sync>
bool SmallUnit<Sync>::wait(uint64_t counter, Deadline deadline) {
  const auto is_completed = [this](uint64_t waited) {
    return !has(Plant::kParksWithoutRecheck) && ring_.is_completed(waited);
  };
  bool completed = ring_.is_completed(counter);
  if (!completed && has(Plant::kLeavesWithoutRemove)) {
    leaving_.push_back(std::make_unique<LeavingWaiter<Sync>>(counter));
    completed = leaving_.back()->wait(waits_, is_completed, deadline);
  } else if (!completed) {
    queue::SleepingWaiter<Sync> waiter(counter);
    completed = waiter.wait(waits_, is_completed, deadline);
  }
  explore::note(completed ? "has waited for" : "has waited unsuccessfully for", counter);
  if (completed) read_result(counter);
  return completed;
}

template <class Sync>
void SmallUnit<Sync>::poll(uint64_t counter, int times) {
  bool before = false;
  for (int i = 0; i < times; ++i) {
    const bool completed = ring_.is_completed(counter);
    if (completed) read_result(counter);
    explore::require(completed || !before, "a completed request is no longer completed");
    explore::require(ring_.in_flight() <= ring_.depth(), "more in flight than the depth allows");
    before = completed;
  }
}

// The request is the caller's alone from here until release.
template <class Sync>
void SmallUnit<Sync>::take_over(Task& task, uint64_t counter) {
  explore::require(task.state == Task::State::kQueued && task.counter == counter,
                   "a request is taken that is not in its cell");
  task.memory.write();
  task.state = Task::State::kTaken;
}

template <class Sync>
void SmallUnit<Sync>::release(Task& task) {
  // Others may come in between, as they may while the task drops its references.
  explore::point();
  explore::require(task.state == Task::State::kTaken, "a request is released that is not in use");
  task.memory.write();
  task.state = Task::State::kReleased;
}

template <class Sync>
void SmallUnit<Sync>::release_late(int owner) {
  if (Task* task = std::exchange(unreleased_[owner], nullptr)) release(*task);
}

// The memory to which the request's result is written belongs to its task.
template <class Sync>
void SmallUnit<Sync>::write_status(Task& task, uint64_t counter) {
  explore::require(task.state == Task::State::kTaken && task.counter == counter,
                   "another request is completed than the one that ran");
  task.memory.write();
}

template <class Sync>
void SmallUnit<Sync>::record(uint64_t counter) {
  explore::point();
  results_[counter].memory.write();
  ++results_[counter].recorded;
  explore::note("recorded", counter);
}

template <class Sync>
void SmallUnit<Sync>::read_result(uint64_t counter) {
  explore::require(results_[counter].recorded == 1,
                   "a request is seen as completed that has no result");
  results_[counter].memory.read();
}

template <class Sync>
void SmallUnit<Sync>::check_end() {
  const uint64_t issued = ring_.issued();
  for (uint64_t counter = 1; counter <= issued; ++counter) {
    const Result& result = results_[counter];
    explore::require(result.started + result.removed == 1,
                     "a request was not either run or removed, once");
    explore::require(result.recorded == 1 && result.completed == 1,
                     "a request was not completed exactly once");
    explore::require(ring_.is_completed(counter), "a completed request is not seen as such");
  }
  explore::require(ring_.completed() == issued, "not every completed request is counted");
  explore::require(ring_.in_flight() == 0, "places are not free at the end");
  for (const Task& task : tasks_)
    explore::require(task.state == Task::State::kReleased, "references are left at the end");
}

}  // namespace millrace::model_check
