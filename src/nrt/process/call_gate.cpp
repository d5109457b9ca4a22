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

// The list of the counters of all threads.
struct Threads {
  std::mutex mutex;
  OwnDepth* first = nullptr;
};

// The list is never destroyed, since threads may end while the process exits.
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

// Runs at the end of a thread. Calls that the thread makes later, in destructors of thread-specific
// data, are not waited for.
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

// Arranges that leave_list() runs at the end of the calling thread; false if that fails. The
// destructor of a thread_local object is no alternative: registering one terminates the program
// when memory is exhausted. The library is never unloaded (-z nodelete), so the function exists as
// long as any thread.
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
  // Waiting for one thread after another suffices: a call that begins after the barrier sees the
  // changes that the caller made before it.
  for (const OwnDepth* own = all.first; own != nullptr; own = own->next)
    while (own->depth.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  while (depth_of_others.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace millrace::nrt
