// Observers are read without a lock. A thread that calls them is counted meanwhile, and
// remove_hook() waits until every thread that may have seen the observer has left.
//
// A locked instruction would take a fifth of the time of an event, so most threads have a counter
// of their own, which they change by plain stores. Then remove_hook() needs a barrier on the other
// threads as well (membarrier(2)): the counter is raised before the observers are read, and the
// observer is removed before the counters are read. So either a thread does not see the observer
// any more, or remove_hook() sees the thread.
#include "base/hooks.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace millrace {
namespace {

struct Observer {
  HookFunction function = nullptr;
  void* object = nullptr;
  bool reads_time = true;
  std::atomic<uint64_t> needed_bits{0};

  bool is(HookFunction other_function, const void* other_object) const noexcept {
    return function == other_function && object == other_object;
  }
};

// The number of calls of emit_slow() in which a thread is. Each is in a cache line of its own.
struct alignas(64) Inside {
  std::atomic<int> count{0};
};
// The first threads have a counter each; the others share the last ones.
constexpr size_t kOwnCounters = 448, kCounters = 512;

constinit std::mutex mutex;  // held while observers are added and removed
constinit std::array<std::atomic<Observer*>, 8> observers{};
constinit std::array<Inside, kCounters> inside{};
// Whether threads change counters of their own by plain stores.
constinit std::atomic<bool> plain_stores{false};

bool membarrier(int command) noexcept {
  return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

// Orders the memory accesses of all threads of the process. False if the system no longer allows
// it, as after a filter of system calls that the program has installed.
bool fence_all_threads() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!plain_stores.load(std::memory_order_relaxed)) return true;
  // A forked child may have to register again.
  return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
          membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

// Counts the thread as long as it exists.
class Visit {
 public:
  Visit() noexcept : Visit(index()) {}
  ~Visit() {
    if (own_)
      count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    else
      count_.fetch_sub(1, std::memory_order_release);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  explicit Visit(size_t index) noexcept
      : own_(index < kOwnCounters && plain_stores.load(std::memory_order_relaxed)),
        count_(inside[index].count) {
    if (own_) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      count_.fetch_add(1, std::memory_order_seq_cst);
    }
  }
  static size_t index() noexcept {
    static constinit std::atomic<size_t> next{0};
    constexpr size_t kNone = ~size_t{0};
    static constinit thread_local size_t own = kNone;
    if (own != kNone) return own;
    const size_t number = next.fetch_add(1, std::memory_order_relaxed);
    own = number < kOwnCounters ? number : kOwnCounters + number % (kCounters - kOwnCounters);
    return own;
  }

  const bool own_;
  std::atomic<int>& count_;
};

// Requirement: the mutex is held.
void update_needed_bits() noexcept {
  uint64_t bits = ~uint64_t{0};
  for (const auto& entry : observers)
    if (const Observer* observer = entry.load(std::memory_order_relaxed); observer != nullptr)
      bits &= observer->needed_bits.load(std::memory_order_relaxed);
  hooks_internal::needed_bits.store(bits, std::memory_order_relaxed);
}

// Returns null if it was not added. Requirement: the mutex is held.
std::atomic<Observer*>* find(HookFunction function, const void* object) noexcept {
  for (auto& entry : observers)
    if (const Observer* found = entry.load(std::memory_order_relaxed);
        found != nullptr && found->is(function, object))
      return &entry;
  return nullptr;
}

}  // namespace

namespace hooks_internal {

constinit std::atomic<uint64_t> needed_bits{~uint64_t{0}};

void emit_slow(HookPoint point, uint64_t subject, uint64_t detail, bool surely) noexcept {
  HookEvent event{point, 0, subject, detail};
  const Visit visit;
  for (const auto& entry : observers) {
    // Sequentially consistent, as the increment of a shared counter before it.
    Observer* const observer = entry.load(std::memory_order_seq_cst);
    if (observer == nullptr) continue;
    if (!surely && (observer->needed_bits.load(std::memory_order_relaxed) & ~subject) != 0)
      continue;
    if (observer->reads_time && event.time_ns == 0) event.time_ns = now_ns();
    observer->function(observer->object, event);
  }
}

}  // namespace hooks_internal

bool add_hook(HookFunction function, void* object, bool reads_time) {
  auto made = std::make_unique<Observer>();
  made->function = function;
  made->object = object;
  made->reads_time = reads_time;
  const std::lock_guard lock(mutex);
  // Threads that are counted by locked instructions already leave in the same way.
  if (!plain_stores.load(std::memory_order_relaxed) &&
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    plain_stores.store(true, std::memory_order_relaxed);
  for (auto& entry : observers) {
    if (entry.load(std::memory_order_relaxed) != nullptr) continue;
    entry.store(made.release(), std::memory_order_release);
    update_needed_bits();
    return true;
  }
  return false;
}

void remove_hook(HookFunction function, void* object) {
  const std::lock_guard lock(mutex);
  std::atomic<Observer*>* const entry = find(function, object);
  if (entry == nullptr) return;
  std::unique_ptr<const Observer> removed(entry->exchange(nullptr, std::memory_order_seq_cst));
  update_needed_bits();
  if (!fence_all_threads()) {
    // There is no other barrier. Stores of other threads become visible within microseconds on real
    // processors, which no standard promises; the entry itself is never freed.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    [[maybe_unused]] const Observer* const kept = removed.release();
  }
  for (const Inside& thread : inside)
    while (thread.count.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

bool thin_out_hook(HookFunction function, void* object, uint64_t bits) noexcept {
  // All bits mean that there is no observer. With one less, too, no subject has enough of them.
  constexpr uint64_t kMost = ~uint64_t{0} >> 1;
  // A thread that removes an observer waits for this one, so this one must not wait for it.
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return false;
  std::atomic<Observer*>* const entry = find(function, object);
  if (entry == nullptr) return false;
  entry->load(std::memory_order_relaxed)
      ->needed_bits.store(bits & kMost, std::memory_order_relaxed);
  update_needed_bits();
  return true;
}

}  // namespace millrace
