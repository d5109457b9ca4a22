#include "queue/units/unit_ids.h"

#include <bitset>
#include <mutex>

#include "base/never_destroyed.h"

namespace millrace::queue {
namespace {

constexpr uint32_t kIdCount = 65'536;  // 16 bits; 0 is never a unit's id

struct Ids {
  std::mutex mutex;
  std::bitset<kIdCount> taken;
  uint32_t last = 0;
};

Ids& ids() {
  static NeverDestroyed<Ids> made;
  return made.get();
}

}  // namespace

UnitId UnitId::take() {
  Ids& state = ids();
  const std::lock_guard lock(state.mutex);
  for (uint32_t tried = 1; tried < kIdCount; ++tried) {
    state.last = state.last % (kIdCount - 1) + 1;
    if (state.taken.test(state.last)) continue;
    state.taken.set(state.last);
    return UnitId(static_cast<uint16_t>(state.last));
  }
  return UnitId(0);
}

UnitId::~UnitId() {
  if (value_ == 0) return;
  Ids& state = ids();
  const std::lock_guard lock(state.mutex);
  state.taken.reset(value_);
}

}  // namespace millrace::queue
