// InCall marks a call that is inside the library. nrt_close, which takes away what calls use, waits
// with await_calls() until every call that may still use it has left.
//
// A call enters and leaves with two plain stores to a counter of its own thread. await_calls()
// orders them with membarrier(2); on a system without membarrier, each call executes a fence.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nrt {

namespace call_gate_internal {

// The number of calls that a thread is inside of: calls may be nested.
using Depth = std::atomic<uint32_t>;

// The counter of a thread. It is in the list of all counters from the thread's first call to its
// end.
struct OwnDepth {
  Depth depth{0};
  enum class State : uint8_t { kNew, kEnrolled, kRefused } state = State::kNew;
  OwnDepth* previous = nullptr;
  OwnDepth* next = nullptr;
};

// The initial-exec model makes access a plain load: the dynamic model calls a function of the
// loader, which may need memory.
extern constinit thread_local OwnDepth own_depth [[gnu::tls_model("initial-exec")]];
// Calls inside the library of all threads that are not in the list, because the system could not be
// asked to call at their end.
extern constinit Depth depth_of_others;
extern constinit std::atomic<bool> fence_in_calls;
// Puts the counter of the calling thread in the list, or else counts the call among those of
// others.
void enter_unenrolled() noexcept;

}  // namespace call_gate_internal

class InCall {
 public:
  InCall() noexcept {
    using namespace call_gate_internal;
    OwnDepth& own = own_depth;
    if (own.state != OwnDepth::State::kEnrolled) [[unlikely]]
      enter_unenrolled();
    own.depth.store(own.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (fence_in_calls.load(std::memory_order_relaxed)) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~InCall() {
    using namespace call_gate_internal;
    OwnDepth& own = own_depth;
    own.depth.store(own.depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    if (own.state != OwnDepth::State::kEnrolled) [[unlikely]]
      depth_of_others.fetch_sub(1, std::memory_order_release);
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

// Returns once every call that had begun before has left. Must not be called inside a call.
void await_calls() noexcept;

}  // namespace millrace::nrt
