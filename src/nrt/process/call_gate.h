// InCall counts a thread as being inside a call of the API. nrt_close, which destroys the objects
// that calls use, waits with await_calls() until every call that may still use them has returned.
//
// This is an asymmetric fence. A call enters and leaves with one plain store each to a counter of
// its thread; the store is ordered before its later loads only by the membarrier(2) that
// await_calls() executes. On a system without membarrier, each call executes a full fence.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nrt {

namespace call_gate_internal {

// The number of nested calls in which a thread is.
using Depth = std::atomic<uint32_t>;

// The counter of a thread. It is in the global list of counters from the thread's first call until
// the thread ends.
struct OwnDepth {
  Depth depth{0};
  enum class State : uint8_t { kNew, kEnrolled, kRefused } state = State::kNew;
  OwnDepth* previous = nullptr;
  OwnDepth* next = nullptr;
};

// With the initial-exec model an access is a plain load. The default model of shared libraries
// calls a function of the loader, which may allocate memory.
extern constinit thread_local OwnDepth own_depth [[gnu::tls_model("initial-exec")]];
// The number of calls in progress on all threads that are not in the list, since no function could
// be registered to run at the end of those threads.
extern constinit Depth depth_of_others;
extern constinit std::atomic<bool> fence_in_calls;
// Puts the counter of the calling thread in the list at its first call. If that is impossible,
// counts the call in depth_of_others.
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

// Blocks until every call that began before has returned. Must not be called inside a call, for
// which it would wait for ever.
void await_calls() noexcept;

}  // namespace millrace::nrt
