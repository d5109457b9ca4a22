// Observers are read without a lock. A thread that calls them is counted meanwhile, and
// remove_hook() waits until every thread that may have seen the observer has left.
#include "base/hooks.h"

#include <array>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace millrace {
namespace {

struct Observer {
  HookFunction function = nullptr;
  void* object = nullptr;

  bool operator==(const Observer&) const = default;
};

// The number of threads inside emit_slow(). There are several counters, each in a cache line of its
// own, so that threads rarely write to the same one.
struct alignas(64) Inside {
  std::atomic<int> count{0};
};
constexpr size_t kCounters = 64;

struct Table {
  std::mutex mutex;  // held while observers are added and removed
  std::array<std::atomic<const Observer*>, 8> observers{};
  std::array<Inside, kCounters> inside;
};

Table& table() {
  // Never destroyed, since threads may emit events while the process exits.
  static Table* made = new Table;
  return *made;
}

// Returns the counter of this thread. Others may have the same one.
std::atomic<int>& inside_of_this_thread() noexcept {
  static std::atomic<size_t> next{0};
  constexpr size_t kNone = ~size_t{0};
  static constinit thread_local size_t own = kNone;
  if (own == kNone) own = next.fetch_add(1, std::memory_order_relaxed) % kCounters;
  return table().inside[own].count;
}

}  // namespace

namespace hooks_internal {

std::atomic<int> observer_count{0};

// The count is raised before the observers are read, and remove_hook() removes an observer before
// it reads the counts, all sequentially consistent. So either this thread does not see the observer
// any more, or remove_hook() sees this thread.
void emit_slow(HookPoint point, uint64_t subject, uint64_t detail) noexcept {
  const HookEvent event{point, now_ns(), subject, detail};
  std::atomic<int>& inside = inside_of_this_thread();
  inside.fetch_add(1, std::memory_order_seq_cst);
  for (const auto& entry : table().observers)
    if (const Observer* observer = entry.load(std::memory_order_seq_cst); observer != nullptr)
      observer->function(observer->object, event);
  inside.fetch_sub(1, std::memory_order_release);
}

}  // namespace hooks_internal

bool add_hook(HookFunction function, void* observer) {
  std::unique_ptr<const Observer> made(new Observer{function, observer});
  const std::lock_guard lock(table().mutex);
  for (auto& entry : table().observers) {
    if (entry.load(std::memory_order_relaxed) != nullptr) continue;
    entry.store(made.release(), std::memory_order_seq_cst);
    hooks_internal::observer_count.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void remove_hook(HookFunction function, void* observer) {
  const Observer removed{function, observer};
  const std::lock_guard lock(table().mutex);
  for (auto& entry : table().observers) {
    const Observer* const found = entry.load(std::memory_order_relaxed);
    if (found == nullptr || *found != removed) continue;
    entry.store(nullptr, std::memory_order_seq_cst);
    hooks_internal::observer_count.fetch_sub(1, std::memory_order_relaxed);
    for (const Inside& inside : table().inside)
      while (inside.count.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    delete found;
    return;
  }
}

}  // namespace millrace
