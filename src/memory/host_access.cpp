#include "memory/host_access.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"
#include "base/process/forked_child.h"
#include "memory/mapping.h"

namespace millrace::memory {
namespace {

struct KnownMappings {
  std::mutex mutex;
  std::map<const std::byte*, std::weak_ptr<const Mapping>> by_address;
};

// The table is never destroyed, since mappings may be released while the process exits.
KnownMappings& known_mappings() noexcept {
  static NeverDestroyed<KnownMappings> made;
  return made.get();
}

}  // namespace

std::atomic<size_t> HostAccess::known_mappings_{0};

HostAccess::HostAccess(const std::shared_ptr<const Mapping>& mapping, size_t bytes) noexcept {
  if (mapping == nullptr || !(mapping->may_shrink() || mapping->is_dma_buf())) return;
  mapping_ = mapping;
  bytes_ = bytes;
}

HostAccess HostAccess::find(const void* data, size_t bytes) noexcept {
  if (is_forked_child()) return {};
  KnownMappings& known = known_mappings();
  const auto* const begin = static_cast<const std::byte*>(data);
  // Declared before the lock, and so destroyed after it: ~Mapping may lock the same mutex.
  std::shared_ptr<const Mapping> found;
  const std::lock_guard lock(known.mutex);
  auto after = known.by_address.upper_bound(begin);
  if (after == known.by_address.begin()) return {};
  const auto& [address, mapping] = *--after;
  const auto offset = static_cast<size_t>(begin - address);
  found = mapping.lock();
  if (found == nullptr || offset >= found->bytes()) return {};
  return {found, std::min(offset + bytes, found->bytes())};
}

HostAccess HostAccess::part(const void* data, size_t bytes) const noexcept {
  if (mapping_ == nullptr) return {};
  return {mapping_, static_cast<const std::byte*>(data) - mapping_->data() + bytes};
}

Status HostAccess::begin(Access access) const noexcept {
  return mapping_ == nullptr ? Status() : mapping_->begin_access(bytes_, access);
}

Status HostAccess::end(Access access) const noexcept {
  return mapping_ == nullptr ? Status() : mapping_->end_access(access);
}

HostAccessEntry::HostAccessEntry(const std::shared_ptr<const Mapping>& mapping)
    : data_(mapping->data()) {
  KnownMappings& known = known_mappings();
  const std::lock_guard lock(known.mutex);
  known.by_address.insert_or_assign(data_, mapping);
  HostAccess::known_mappings_.store(known.by_address.size(), std::memory_order_relaxed);
}

HostAccessEntry::~HostAccessEntry() {
  if (is_forked_child()) return;
  KnownMappings& known = known_mappings();
  const std::lock_guard lock(known.mutex);
  known.by_address.erase(data_);
  HostAccess::known_mappings_.store(known.by_address.size(), std::memory_order_relaxed);
}

}  // namespace millrace::memory
