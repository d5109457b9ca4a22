// The words of execution: what an execution unit does when it is full, what state it is in, and
// what a cancellation came to. Values only; the same words in every layer.
#pragma once

#include <chrono>
#include <cstdint>

namespace millrace {

// Deadlines are points of the steady clock; kNoDeadline is later than all of them.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// What submit() does when `depth` requests of the unit are not completed.
enum class WhenFull : uint8_t {
  kFail,            // QUEUE_FULL; nothing has changed
  kBlock,           // waits for room, up to the request's own deadline
  kDropOldest,      // the oldest request that has not started completes with DROPPED
  kShedByDeadline,  // the queued request least likely to be in time completes with
                    // DEADLINE_EXCEEDED, if none is expected to be late: QUEUE_FULL
};

enum class UnitState : uint8_t {
  kHealthy,
  kDegraded,   // out of service: every request fails with UNIT_DEGRADED until reset()
  kResetting,  // a request that hung is being given up; those behind it will run
};

// The order in which callbacks are delivered.
enum class CallbackOrder : uint8_t { kSubmission, kCompletion };

// What cancel() came to.
enum class CancelOutcome : uint8_t {
  kRemoved,  // the request never started: it completed with CANCELLED, its outputs are untouched
  kStopped,  // it had started and completed with CANCELLED: its outputs are undefined
  kTooLate,  // it completed as if nobody had cancelled it
};

}  // namespace millrace
