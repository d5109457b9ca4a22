#include "base/hooks.h"

#include <array>
#include <mutex>
#include <shared_mutex>

#include "base/clock.h"

namespace millrace {
namespace {

struct Entry {
  HookFunction function = nullptr;
  void* observer = nullptr;
};

struct Table {
  std::shared_mutex mutex;  // held shared while observers run, so that removal can wait for them
  std::array<Entry, 8> entries;
};

Table& table() {
  // Never destroyed, since threads may emit events while the process exits.
  static Table* made = new Table;
  return *made;
}

bool replace_entry(const Entry& from, const Entry& to) {
  for (Entry& entry : table().entries) {
    if (entry.function != from.function || entry.observer != from.observer) continue;
    entry = to;
    return true;
  }
  return false;
}

}  // namespace

namespace hooks_internal {

std::atomic<int> observer_count{0};

void emit_slow(HookPoint point, uint64_t subject, uint64_t detail) noexcept {
  const HookEvent event{point, now_ns(), subject, detail};
  const std::shared_lock lock(table().mutex);
  for (const Entry& entry : table().entries)
    if (entry.function != nullptr) entry.function(entry.observer, event);
}

}  // namespace hooks_internal

bool add_hook(HookFunction function, void* observer) {
  const std::unique_lock lock(table().mutex);
  if (!replace_entry(Entry{}, Entry{function, observer})) return false;
  hooks_internal::observer_count.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void remove_hook(HookFunction function, void* observer) {
  const std::unique_lock lock(table().mutex);
  if (replace_entry(Entry{function, observer}, Entry{}))
    hooks_internal::observer_count.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace millrace
