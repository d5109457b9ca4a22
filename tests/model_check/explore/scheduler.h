// Scheduler: runs the threads of a scenario one at a time. Every operation of shim_sync.h is a
// point at which it decides who goes on; the same decisions give the same execution.
//
// They are real threads that hand over a baton (so sanitizers see nothing unusual), kept from one
// execution to the next. After a failure they stop for good where they are, since noexcept code
// cannot be unwound: the scheduler leaves them behind and cannot run anything more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/model_check/explore/path.h"
#include "tests/model_check/explore/scenario.h"

namespace millrace::explore {

class Scheduler {
 public:
  explicit Scheduler(int threads);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Runs `make()` once along `path`, taking a thread's turn from it while it could go on at most
  // `preemptions` times. What went wrong and how it came to that; empty when nothing did.
  std::string run(const std::function<Scenario()>& make, Path& path, int preemptions);

  class State;

 private:
  const std::shared_ptr<State> state_;  // its threads hold it, too
  std::vector<std::thread> threads_;
};

// --- For the threads of a scenario. On any other thread (making a scenario, looking at its end)
// --- they neither switch nor wait.

// Condition that a thread waits for before it goes on. Evaluated by other threads, at their points.
struct Condition {
  bool (*holds)(const void*) = nullptr;  // null: nothing
  const void* context = nullptr;
};

enum class Switch : uint8_t {
  kPreempts,   // counts as a preemption if this thread could have gone on
  kVoluntary,  // does not count
};

// A point: others may go on here. Returns when `condition` holds and it is this thread's turn.
void point(Condition condition = {}, Switch kind = Switch::kPreempts);

// Waits until `holds()`, which may read shared state but not change it.
template <class Holds>
void await(const Holds& holds) {
  point({[](const void* context) { return (*static_cast<const Holds*>(context))(); }, &holds});
}

// The execution has failed if not `holds`.
void require(bool holds, const char* otherwise);

// A line of the report, printed when the execution fails: an operation on `object`, or (null) a
// step of the scenario.
void note(const char* what, uint64_t value, const void* object = nullptr) noexcept;

// --- For shim_sync.h.

// -1 outside of a scenario's threads.
int thread_index() noexcept;
// This thread's knowledge. Requirement: thread_index() is not negative.
Clock& clock() noexcept;

}  // namespace millrace::explore
