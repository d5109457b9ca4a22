// The tap: the single point at which the NRT face publishes timed events, of calls and of runs, to
// its listeners. Without a listener, which is the usual case, an event costs one relaxed load.
// Thread-safe.
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

// The time at which an execution began a step, or the inputs or outputs of a frame.
struct StepMark {
  static constexpr uint32_t kInputs = ~uint32_t{0}, kOutputs = ~uint32_t{1};
  int64_t begin_ns;  // now_ns()
  uint32_t step;     // an index in ProgramInfo::steps, kInputs or kOutputs
  uint16_t frame;
};

// An event that has ended: a call, or the run of a request.
struct Span {
  EventType type = kExecRunning;
  int core = -1;         // kNoCore for events that belong to no core
  int64_t begin_ns = 0;  // now_ns()
  int64_t end_ns = 0;
  int64_t thread = 0;       // gettid() of the thread
  nrta_seq_t sequence = 0;  // the request's id, as programs see it; 0 without a request
  NRT_STATUS status = NRT_SUCCESS;
  // The following two are set only for runs.
  int64_t scheduled_ns = 0;  // now_ns() when the request was scheduled; 0 without a listener then
  uint64_t bytes = 0;        // number of bytes that were moved
  // The following two are set only for executions, and are valid only during Listener::on_span.
  const Model* model = nullptr;
  std::span<const StepMark> steps;  // empty unless a listener requests them
};

// The interface of listeners. Its functions are called on the threads that did the work, possibly
// on several at the same time, and must not add or remove listeners.
class Listener {
 public:
  virtual ~Listener() = default;
  // Returns the number of steps of the model's program if the listener needs Span::steps; else 0.
  virtual size_t wanted_steps(const Model&) const noexcept { return 0; }
  virtual void on_span(const Span& span) noexcept = 0;
};

// Adds and removes a listener. It is not called any more once remove_listener() has returned.
void add_listener(std::shared_ptr<Listener> listener);
void remove_listener(const Listener& listener) noexcept;

namespace tap_internal {
extern std::atomic<int> listeners;
}
inline bool listening() noexcept {
  return tap_internal::listeners.load(std::memory_order_relaxed) != 0;
}

// Returns the largest result of Listener::wanted_steps(); 0 when no listener needs the steps.
size_t wanted_steps(const Model& model) noexcept;
// Passes the span to every listener.
void publish(const Span& span) noexcept;
// Returns the value of Span::thread for the calling thread.
int64_t this_thread() noexcept;

}  // namespace millrace::nrt::trace
