// Plain types about the execution of jobs, which every layer uses: the options, policy and state of
// an execution unit, deadlines, and the outcome of a cancellation.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace millrace {

// Deadlines are points of the steady clock; kNoDeadline is later than all of them.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// The policy of submit() when `depth` requests of the unit are not completed.
enum class WhenFull : uint8_t {
  kFail,            // fails with QUEUE_FULL; nothing has changed
  kBlock,           // waits for a place, up to the request's own deadline
  kDropOldest,      // the oldest request that has not started completes with DROPPED
  kShedByDeadline,  // the request that is expected to be latest, queued or new, ends with
                    // DEADLINE_EXCEEDED; if none is expected to be late, fails with QUEUE_FULL
};

// The order in which callbacks are called.
enum class CallbackOrder : uint8_t { kSubmission, kCompletion };

// Whether a thread that waits for a job of a unit runs it itself, as long as no lane has begun it,
// and meanwhile other short jobs of the device that are ready.
enum class CallerHelps : uint8_t {
  // It does where that ends sooner: the jobs take no longer than 16 wakes of a lane, both as
  // measured, and a time limit of the wait is far longer. Threads that run callbacks never do,
  // nor do waits for units with a watchdog or of ranks, or on devices that inject faults.
  kAuto,
  kNever,
};

// Options of an execution unit.
struct UnitOptions {
  std::string name{};  // for messages and logs
  uint32_t depth = 2;  // jobs accepted and not completed, 1 to 65,536
  WhenFull when_full = WhenFull::kFail;
  // The two orders differ only if jobs are removed from the queue: in the order of submission the
  // callback of a removed job waits for those of the jobs before it.
  CallbackOrder callback_order = CallbackOrder::kSubmission;
  // How long wait() spins for the completion before it sleeps; adapts downwards while spinning does
  // not succeed. With zero it sleeps at once. A longer time saves the wake-up (tens of microseconds
  // on virtual machines) at the price of a busy core during the wait.
  std::chrono::nanoseconds wait_spin = std::chrono::microseconds(20);
  // A thread that must not compute, such as one with the priority of real time, waits with kNever.
  CallerHelps caller_helps = CallerHelps::kAuto;
  // A job that runs without progress (frames, operators) for this time is given up: it completes
  // with kHung, and the message names frame, partition, operator and the tensor it was writing.
  // Zero means never. Time in the queue does not count. The environment variable MILLRACE_WATCHDOG,
  // for example "10s", may set a shorter time.
  std::chrono::nanoseconds watchdog{0};
  // The behaviour after a job hung or its device failed. False: the unit is degraded; every job in
  // it and every later one fails with kUnitDegraded until reset(). True: the unit continues with
  // the later jobs, which had not started.
  bool auto_reset = false;
  // How long close() waits for a running job without progress before the job is given up; at most
  // the time of the watchdog. By default the time of the watchdog, or 10 s without one. A close
  // that takes long logs which job it waits for.
  std::optional<std::chrono::nanoseconds> close_patience{};
};

enum class UnitState : uint8_t {
  kHealthy,
  kDegraded,   // every request fails with UNIT_DEGRADED until reset()
  kResetting,  // a request that hung is being given up; the requests after it will run
};

// Counts the conversions of jobs. If the device does not accept the view in which a tensor is
// bound, the tensor is converted to memory of Millrace before the job, or from it afterwards.
// Nothing else is copied between the caller and the device. (The copies of MILLRACE_STRICT_SYNC,
// which emulate those of a board, do not count.)
struct BoundaryConversions {
  uint64_t tensors = 0;  // one for each tensor of each frame
  uint64_t bytes = 0;    // bytes of these tensors, in the view in which they were bound

  friend bool operator==(const BoundaryConversions&, const BoundaryConversions&) = default;
};

// When a job ran: from the beginning of its first piece of work to the end of its last one. Both
// are the epoch of the clock for a job that never started.
struct JobSpan {
  std::chrono::steady_clock::time_point began{}, ended{};

  friend bool operator==(const JobSpan&, const JobSpan&) = default;
};

// The outcome of cancel().
enum class CancelOutcome : uint8_t {
  kRemoved,  // the request never started: it completed with CANCELLED, its outputs are untouched
  kStopped,  // it had started and completed with CANCELLED: its outputs are undefined
  kTooLate,  // it completed as if cancel() had not been called
};

}  // namespace millrace
