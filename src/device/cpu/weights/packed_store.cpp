#include "device/cpu/weights/packed_store.h"

namespace millrace::device::cpu {

std::shared_ptr<const std::byte> PackedStore::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(key);
  // Once the source is gone, another constant may lie at its address.
  if (entry == entries_.end() || entry->second.source.expired()) return nullptr;
  return entry->second.packed.lock();
}

void PackedStore::keep(Key key, const graph::Constant& source,
                       const std::shared_ptr<const std::byte>& packed) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(std::move(key), Entry{packed, source.owner});
}

void PackedStore::drop_expired() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) {
    return entry.second.packed.expired() || entry.second.source.expired();
  });
}

}  // namespace millrace::device::cpu
