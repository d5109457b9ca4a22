#include "nrt/process/call_gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::nrt {
namespace {

using call_gate_internal::Depth;

// Never destroyed: threads end while the process exits.
struct Threads {
  std::mutex mutex;
  std::vector<Depth*> depths;
};

Threads& threads() {
  static auto* const threads = new Threads;
  return *threads;
}

long membarrier(int command) noexcept {
  return syscall(__NR_membarrier, command, 0, 0);
}

bool use_membarrier() noexcept {
  static const bool available = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return available;
}

// The counter of a thread, in the list of all counters while the thread lives.
class OwnDepth {
 public:
  OwnDepth() {
    Threads& all = threads();
    const std::lock_guard lock(all.mutex);
    all.depths.push_back(&depth_);
  }
  ~OwnDepth() {
    Threads& all = threads();
    const std::lock_guard lock(all.mutex);
    std::erase(all.depths, &depth_);
  }
  Depth& get() noexcept { return depth_; }

 private:
  Depth depth_{0};
};

}  // namespace

namespace call_gate_internal {

constinit thread_local Depth* own_depth = nullptr;
constinit std::atomic<bool> fence_in_calls{true};

Depth* enroll() {
  thread_local OwnDepth own;
  if (use_membarrier()) fence_in_calls.store(false, std::memory_order_relaxed);
  return &own.get();
}

}  // namespace call_gate_internal

void await_calls() noexcept {
  if (use_membarrier())
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  // One thread after another: a call that begins meanwhile already sees what the caller has
  // changed.
  for (const Depth* const depth : all.depths)
    while (depth->load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace millrace::nrt
