// The words of execution: how an execution unit is made, what it does when it is full, what state
// it is in, and what a cancellation came to. Values only; the same words in every layer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace {

// Deadlines are points of the steady clock; kNoDeadline is later than all of them.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// Policy of submit() when `depth` requests of the unit are not completed.
enum class WhenFull : uint8_t {
  kFail,            // QUEUE_FULL; nothing has changed
  kBlock,           // waits for room, up to the request's own deadline
  kDropOldest,      // the oldest request that has not started completes with DROPPED
  kShedByDeadline,  // the queued request least likely to be in time completes with
                    // DEADLINE_EXCEEDED, if none is expected to be late: QUEUE_FULL
};

// The order in which callbacks are delivered.
enum class CallbackOrder : uint8_t { kSubmission, kCompletion };

// Options of an execution unit.
struct UnitOptions {
  std::string name{};  // for messages and logs
  uint32_t depth = 2;  // jobs accepted and not completed, 1 to 65,536
  WhenFull when_full = WhenFull::kFail;
  // Differ only where jobs are removed: in the order of submission the callback of a removed
  // job waits for those of the jobs before it.
  CallbackOrder callback_order = CallbackOrder::kSubmission;
  // Time that wait looks for the completion before it sleeps; adapts downwards while looking does
  // not pay. Zero sleeps at once. Longer saves the wake-up (tens of microseconds on virtual
  // machines) at the price of a busy core for that long per wait.
  std::chrono::nanoseconds wait_spin = std::chrono::microseconds(20);
  // A job that runs without progress (frames, operators) for this long is given up: it completes
  // with kHung, and the message names frame, partition, operator and the tensor it was writing.
  // Zero: never. Time in the queue does not count. The environment variable MILLRACE_WATCHDOG, if
  // it is set, for example to "10s", shortens it.
  std::chrono::nanoseconds watchdog{0};
  // Behaviour after a job hung or its device failed. False: the unit is degraded, every job in it
  // and every later one fails with kUnitDegraded until reset(). True: the unit goes on with the
  // later jobs, which had not started.
  bool auto_reset = false;
  // Time that close waits for a running job that makes no progress before it is given up; never
  // longer than the watchdog does. None: as long as the watchdog, or 10 s without one. A close that
  // takes long logs what it waits for.
  std::optional<std::chrono::nanoseconds> close_patience{};
};

enum class UnitState : uint8_t {
  kHealthy,
  kDegraded,   // every request fails with UNIT_DEGRADED until reset()
  kResetting,  // a request that hung is being given up; those behind it will run
};

// Counts the conversions of jobs. A tensor in a view that the device does not take is converted,
// into memory of Millrace before the job or out of it afterwards.
// Nothing else is copied between the caller and the device. (The copies of MILLRACE_STRICT_SYNC,
// which stand for those of a board, do not count.)
struct BoundaryConversions {
  uint64_t tensors = 0;  // one for each tensor of each frame
  uint64_t bytes = 0;    // of these tensors, in the view in which they were given

  friend bool operator==(const BoundaryConversions&, const BoundaryConversions&) = default;
};

// The outcome of cancel().
enum class CancelOutcome : uint8_t {
  kRemoved,  // the request never started: it completed with CANCELLED, its outputs are untouched
  kStopped,  // it had started and completed with CANCELLED: its outputs are undefined
  kTooLate,  // it completed as if cancel() had not been called
};

}  // namespace millrace
