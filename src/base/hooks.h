// The table of hooks, through which observers (such as timelines and hazard checkers) get events of
// queue, memory, runtime and the faulty device. These call emit(); an observer registers one
// function, and nothing depends on it. So far only tests register. Thread-safe.
//
// Cost without an observer: one relaxed load and one predictable branch.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace {

enum class HookPoint : uint8_t {
  kSubmitted,     // subject: sequence id
  kStarted,       // subject: sequence id, detail: lane
  kCompleted,     // subject: sequence id, detail: StatusCode; before anyone can see that it is so
  kWaited,        // subject: sequence id, detail: StatusCode the waiter received
  kBufferMade,    // subject: device address, detail: bytes
  kBufferMapped,  // subject: device address, detail: bytes
  kBufferSynced,  // subject: device address, detail: 0 towards the device, 1 towards the host
  kBufferFreed,   // subject: device address, detail: bytes
  kInjected,      // subject: sequence id, detail: the number that the fault injector gave the fault
  kSyncMissing,   // under strict sync; subject and detail as of kBufferSynced
};

struct HookEvent {
  HookPoint point;
  int64_t time_ns;  // now_ns() at the call
  uint64_t subject;
  uint64_t detail;
};

// Called on the thread that caused the event, between two steps of its work: it must be quick, must
// not throw, and must not call into the object that emitted.
using HookFunction = void (*)(void* observer, const HookEvent& event) noexcept;

// Adds an observer; returns false when the table (8 entries) is full. An observer that was added
// must be removed with the same pair, and may still be called until remove_hook returns.
bool add_hook(HookFunction function, void* observer);
void remove_hook(HookFunction function, void* observer);

namespace hooks_internal {
extern std::atomic<int> observer_count;
void emit_slow(HookPoint point, uint64_t subject, uint64_t detail) noexcept;
}  // namespace hooks_internal

inline void emit(HookPoint point, uint64_t subject, uint64_t detail = 0) noexcept {
  if (hooks_internal::observer_count.load(std::memory_order_relaxed) != 0) [[unlikely]]
    hooks_internal::emit_slow(point, subject, detail);
}

}  // namespace millrace
