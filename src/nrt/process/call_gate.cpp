#include "nrt/process/call_gate.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/never_destroyed.h"

namespace millrace::nrt {
namespace {

using namespace call_gate_internal;

// The counters of all threads.
struct Threads {
  std::mutex mutex;
  OwnDepth* first = nullptr;
};

// Threads end while the process exits.
Threads& threads() noexcept {
  static NeverDestroyed<Threads> made;
  return made.get();
}

long membarrier(int command) noexcept {
  return syscall(__NR_membarrier, command, 0, 0);
}

bool use_membarrier() noexcept {
  static const bool available = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
  return available;
}

// At the end of a thread. What it calls later, in destructors of its own, is not waited for.
void leave_list(void* entry) noexcept {
  auto* const own = static_cast<OwnDepth*>(entry);
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  (own->previous != nullptr ? own->previous->next : all.first) = own->next;
  if (own->next != nullptr) own->next->previous = own->previous;
}

void enter_list(OwnDepth& own) noexcept {
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  own.next = all.first;
  if (own.next != nullptr) own.next->previous = &own;
  all.first = &own;
}

// A destructor of a thread_local object would do, too, but registering one ends the program when
// there is no memory. The library is never unloaded, so the key lives as long as the threads.
bool calls_at_thread_end(OwnDepth& own) noexcept {
  static const struct Key {
    Key() noexcept : made(pthread_key_create(&value, leave_list) == 0) {}
    pthread_key_t value{};
    const bool made;
  } key;
  return key.made && pthread_setspecific(key.value, &own) == 0;
}

}  // namespace

namespace call_gate_internal {

constinit thread_local OwnDepth own_depth;
constinit Depth depth_of_others{0};
constinit std::atomic<bool> fence_in_calls{true};

void enter_unenrolled() noexcept {
  OwnDepth& own = own_depth;
  if (own.state == OwnDepth::State::kNew) {
    if (use_membarrier()) fence_in_calls.store(false, std::memory_order_relaxed);
    const bool enrolled = calls_at_thread_end(own);
    if (enrolled) enter_list(own);
    own.state = enrolled ? OwnDepth::State::kEnrolled : OwnDepth::State::kRefused;
  }
  if (own.state == OwnDepth::State::kRefused)
    depth_of_others.fetch_add(1, std::memory_order_relaxed);
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
  for (const OwnDepth* own = all.first; own != nullptr; own = own->next)
    while (own->depth.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  while (depth_of_others.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace millrace::nrt
