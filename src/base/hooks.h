// The table of hooks, through which observers, such as timelines and hazard checkers, receive
// events of the queue, the memory, the runtime and the faulty device. These call emit(), and an
// observer registers one function. The timeline (timeline/recorder.h) registers while it records.
// Thread-safe.
//
// Without an observer an event costs one relaxed load and one predictable branch. With one it takes
// no lock, so that threads that emit events do not wait for each other.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace {

enum class HookPoint : uint8_t {
  kSubmitted,     // subject: sequence id
  kStarted,       // subject: sequence id, detail: lane
  kCompleted,     // subject: sequence id, detail: StatusCode; emitted before the publication
  kWaited,        // subject: sequence id, detail: the StatusCode that the waiter received
  kBufferMade,    // subject: device address, detail: bytes
  kBufferMapped,  // subject: device address, detail: bytes
  kBufferSynced,  // subject: device address, detail: 0 towards the device, 1 towards the host
  kBufferFreed,   // subject: device address, detail: bytes
  kInjected,      // subject: sequence id, detail: the number that the fault injector gave the fault
  kSyncMissing,   // under strict sync only; subject and detail as for kBufferSynced
  kRefused,       // subject: 0, detail: the StatusCode with which a full session refused a job
  kWaitBegan,     // subject: sequence id; kWaited follows on the same thread
  kCallbackBegan,  // subject: the id that the callback receives; kCallbackEnded follows
  kCallbackEnded,  // subject: as for kCallbackBegan
  kPhaseBegan,  // subject: sequence id, detail: the NameId (base/names.h) of what the running job
                // does from now on, such as an operator; it ends where the next one begins
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
// must be removed with the same arguments, and may be called until remove_hook() returns.
bool add_hook(HookFunction function, void* observer);
void remove_hook(HookFunction function, void* observer);

namespace hooks_internal {
extern std::atomic<int> observer_count;
void emit_slow(HookPoint point, uint64_t subject, uint64_t detail) noexcept;
}  // namespace hooks_internal

// Returns whether there is an observer, for callers that have to prepare what they emit.
inline bool hooks_observed() noexcept {
  return hooks_internal::observer_count.load(std::memory_order_relaxed) != 0;
}

inline void emit(HookPoint point, uint64_t subject, uint64_t detail = 0) noexcept {
  if (hooks_observed()) [[unlikely]]
    hooks_internal::emit_slow(point, subject, detail);
}

}  // namespace millrace
