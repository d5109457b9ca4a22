// The tap: where the face tells those who listen what it did, and when. Nobody listens, as a rule;
// then an event costs one relaxed load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "nrt/nrt_async.h"
#include "nrt/trace/event_type.h"

namespace millrace::nrt {
class Model;
}

namespace millrace::nrt::trace {

// What an execution went on with at a time: an operator, by its place in ProgramInfo::steps, or the
// inputs or outputs of a frame.
struct StepMark {
  static constexpr uint32_t kInputs = ~uint32_t{0}, kOutputs = ~uint32_t{1};
  int64_t begin_ns;  // now_ns()
  uint32_t step;
  uint16_t frame;
};

// Something that took time and is over.
struct Span {
  EventType type = kExecRunning;
  int core = -1;         // kNoCore where it belongs to none
  int64_t begin_ns = 0;  // now_ns()
  int64_t end_ns = 0;
  int64_t thread = 0;       // the system's number of it
  nrta_seq_t sequence = 0;  // of the request, as programs see it; 0 for none
  NRT_STATUS status = NRT_SUCCESS;
  // Of what units run.
  int64_t scheduled_ns = 0;  // now_ns() when the request was; 0 when nobody listened then
  uint64_t bytes = 0;        // that it moved
  // Of executions; valid while the listener looks at them.
  const Model* model = nullptr;
  std::span<const StepMark> steps;  // empty unless a listener wants them
};

// Called on the thread that did it, from several at once. Must not add or remove listeners.
class Listener {
 public:
  virtual ~Listener() = default;
  // How many steps the program of the model has, when they are wanted; else 0.
  virtual size_t wanted_steps(const Model&) const noexcept { return 0; }
  virtual void on_span(const Span& span) noexcept = 0;
};

// Any thread. A listener that was removed is not called any more.
void add_listener(std::shared_ptr<Listener> listener);
void remove_listener(const Listener& listener) noexcept;

namespace tap_internal {
extern std::atomic<int> listeners;
}
inline bool listening() noexcept {
  return tap_internal::listeners.load(std::memory_order_relaxed) != 0;
}

// 0 where no listener wants them.
size_t wanted_steps(const Model& model) noexcept;
void tell(const Span& span) noexcept;
// The number that Span::thread has for the calling thread.
int64_t this_thread() noexcept;

}  // namespace millrace::nrt::trace
