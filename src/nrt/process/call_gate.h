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

// Null until the thread's first call. The initial-exec model makes access a plain load: the dynamic
// model calls a function of the loader.
extern constinit thread_local Depth* own_depth [[gnu::tls_model("initial-exec")]];
extern std::atomic<bool> fence_in_calls;
// Makes and registers the counter of the calling thread.
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

// Returns once every call that had begun before has left. Must not be called inside a call.
void await_calls() noexcept;

}  // namespace millrace::nrt
