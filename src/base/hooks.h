// The table of hooks, through which observers, such as timelines and hazard checkers, receive
// events of the queue, the memory, the runtime and the faulty device. These call emit(), and an
// observer registers one function. The timeline (timeline/recorder.h) registers while it records.
// Thread-safe.
//
// Without an observer an event costs one relaxed load and one predictable branch. With one it takes
// no lock, so that threads that emit events do not wait for each other. An observer that wants to
// cost little may thin out what it receives.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace {

enum class HookPoint : uint8_t {
  kSubmitted,      // subject: sequence id
  kStarted,        // subject: sequence id, detail: lane
  kCompleted,      // subject: sequence id, detail: StatusCode; emitted before the publication
  kWaited,         // subject: sequence id, detail: the StatusCode that the waiter received
  kBufferMade,     // subject: device address, detail: bytes
  kBufferMapped,   // subject: device address, detail: bytes
  kBufferSynced,   // subject: device address, detail: 0 towards the device, 1 towards the host
  kBufferFreed,    // subject: device address, detail: bytes
  kInjected,       // subject: sequence id, detail: named_number() (base/names.h) of the kind of the
                   // fault and the number that the fault injector gave it
  kSyncMissing,    // under strict sync only; subject and detail as for kBufferSynced
  kRefused,        // subject: 0, detail: the StatusCode with which a full session refused a job
  kWaitBegan,      // subject: sequence id; kWaited follows on the same thread
  kCallbackBegan,  // subject: the id that the callback receives; kCallbackEnded follows
  kCallbackEnded,  // subject: as for kCallbackBegan
  kPhaseBegan,  // subject: sequence id, detail: the NameId (base/names.h) of what the running job
                // does from now on, such as an operator; it ends where the next one begins
  kExchangeBegan,  // subject: ExchangeId (base/exchange_events.h), detail: bytes
  kExchangeEnded,  // subject: as for kExchangeBegan, detail: StatusCode; on any thread
};

struct HookEvent {
  HookPoint point;
  int64_t time_ns;  // now_ns() at the call
  uint64_t subject;
  uint64_t detail;
};

// The function of an observer. It is called on the thread that caused the event. It must be quick
// and must not call the object that emitted the event.
using HookFunction = void (*)(void* observer, const HookEvent& event) noexcept;

// Adds an observer; false when the table, which has 8 entries, is full. An observer that was added
// must be removed with the same arguments, and may be called until remove_hook() returns. Without
// `reads_time`, HookEvent::time_ns may be 0, which saves reading the clock.
bool add_hook(HookFunction function, void* observer, bool reads_time = true);
void remove_hook(HookFunction function, void* observer);
// From now on the observer receives only those events whose subjects have every bit of `bits` set,
// besides injected faults, missing syncs and what is emitted surely: with the n lowest bits one job
// in 2^n, since ids count up. Its own function may call this. Returns false, without an effect,
// while observers are added or removed.
bool thin_out_hook(HookFunction function, void* observer, uint64_t bits) noexcept;

namespace hooks_internal {
// The bits that all observers need to be set in a subject. Without an observer all of them: no
// subject has.
extern std::atomic<uint64_t> needed_bits;
void emit_slow(HookPoint point, uint64_t subject, uint64_t detail, bool surely) noexcept;
}  // namespace hooks_internal

// Returns whether there is an observer, for callers that have to prepare what they emit.
inline bool hooks_observed() noexcept {
  return hooks_internal::needed_bits.load(std::memory_order_relaxed) != ~uint64_t{0};
}
// Returns whether an observer receives events with this subject.
inline bool hooks_observe(uint64_t subject) noexcept {
  return (hooks_internal::needed_bits.load(std::memory_order_relaxed) & ~subject) == 0;
}

// For events that every observer has to receive, also one that has thinned out the others: of what
// is rare, such as failures.
inline void emit_surely(HookPoint point, uint64_t subject, uint64_t detail = 0) noexcept {
  if (hooks_observed()) [[unlikely]]
    hooks_internal::emit_slow(point, subject, detail, true);
}
inline void emit(HookPoint point, uint64_t subject, uint64_t detail = 0) noexcept {
  if (point == HookPoint::kInjected || point == HookPoint::kSyncMissing)
    return emit_surely(point, subject, detail);
  if (hooks_observe(subject)) [[unlikely]]
    hooks_internal::emit_slow(point, subject, detail, false);
}

}  // namespace millrace
