// InCall: a call that is inside the library. Whoever takes something away from under the calls
// waits until those that may have seen it have left.
//
// A call enters and leaves with two plain stores on its own thread; the cost of ordering them is on
// the side of the one who waits (membarrier(2); where the system has none, calls pay for a fence).
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::nrt {

namespace call_gate_internal {

// How many calls a thread is inside of: they may be nested.
using Depth = std::atomic<uint32_t>;

// Null until the thread's first call. In the thread's own block, so that reaching it is no call.
extern constinit thread_local Depth* own_depth [[gnu::tls_model("initial-exec")]];
extern std::atomic<bool> fence_in_calls;
// Makes the calling thread's.
Depth* enroll();

}  // namespace call_gate_internal

class InCall {
 public:
  InCall() noexcept {
    using namespace call_gate_internal;
    if (own_depth == nullptr) [[unlikely]]
      own_depth = enroll();
    own_depth->store(own_depth->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (fence_in_calls.load(std::memory_order_relaxed)) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~InCall() {
    call_gate_internal::Depth& depth = *call_gate_internal::own_depth;
    depth.store(depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
};

// Returns when every call that had begun before has left, whatever it saw. Not inside a call.
void await_calls() noexcept;

}  // namespace millrace::nrt
