// The tap: the one point at which the face publishes what it did, and when, to its listeners.
// Without a listener, which is the usual case, an event costs one relaxed load.
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

// The moment at which an execution began with an operator, given by its index in
// ProgramInfo::steps, or with the inputs or outputs of a frame.
struct StepMark {
  static constexpr uint32_t kInputs = ~uint32_t{0}, kOutputs = ~uint32_t{1};
  int64_t begin_ns;  // now_ns()
  uint32_t step;
  uint16_t frame;
};

// Something that took time and has ended.
struct Span {
  EventType type = kExecRunning;
  int core = -1;         // kNoCore for what belongs to no core
  int64_t begin_ns = 0;  // now_ns()
  int64_t end_ns = 0;
  int64_t thread = 0;       // the number that the system has for it
  nrta_seq_t sequence = 0;  // of the request, as programs see it; 0 for none
  NRT_STATUS status = NRT_SUCCESS;
  // Only of what units run.
  int64_t scheduled_ns = 0;  // now_ns() when the request was scheduled; 0 without a listener then
  uint64_t bytes = 0;        // that it moved
  // Only of executions, and only valid during Listener::on_span.
  const Model* model = nullptr;
  std::span<const StepMark> steps;  // empty unless a listener wants them
};

// Called on the threads that did the work, several at a time. Must not add or remove listeners.
class Listener {
 public:
  virtual ~Listener() = default;
  // The number of steps of the model's program when the listener wants them in Span::steps; else 0.
  virtual size_t wanted_steps(const Model&) const noexcept { return 0; }
  virtual void on_span(const Span& span) noexcept = 0;
};

// Both are thread-safe. A listener is not called any more once remove_listener has returned.
void add_listener(std::shared_ptr<Listener> listener);
void remove_listener(const Listener& listener) noexcept;

namespace tap_internal {
extern std::atomic<int> listeners;
}
inline bool listening() noexcept {
  return tap_internal::listeners.load(std::memory_order_relaxed) != 0;
}

// The largest answer of the listeners; 0 when no listener wants the steps.
size_t wanted_steps(const Model& model) noexcept;
// Gives the span to every listener.
void publish(const Span& span) noexcept;
// The number that Span::thread has for the calling thread.
int64_t this_thread() noexcept;

}  // namespace millrace::nrt::trace
