#include "memory/address_entry.h"

#include <iterator>
#include <map>
#include <mutex>

#include "base/process/forked_child.h"

namespace millrace::memory {
namespace {

// The table of entries, by the first address. The ranges of different buffers do not overlap, but
// one buffer may have several entries.
struct Entries {
  std::mutex mutex;
  std::multimap<uint64_t, const AddressEntry*> by_address;
};

Entries& entries() {
  // Never destroyed, since memory may be released while the process exits.
  static Entries* made = new Entries;
  return *made;
}

}  // namespace

AddressEntry::AddressEntry(const Buffer& buffer) : buffer_(buffer.whole()) {
  Entries& all = entries();
  const std::lock_guard lock(all.mutex);
  all.by_address.emplace(buffer_.device_address(), this);
}

AddressEntry::~AddressEntry() {
  if (is_forked_child()) return;
  Entries& all = entries();
  const std::lock_guard lock(all.mutex);
  auto [entry, end] = all.by_address.equal_range(buffer_.device_address());
  while (entry != end && entry->second != this) ++entry;
  if (entry != end) all.by_address.erase(entry);
}

Buffer AddressEntry::find(uint64_t address) {
  if (is_forked_child()) return {};
  Entries& all = entries();
  const std::lock_guard lock(all.mutex);
  const auto above = all.by_address.upper_bound(address);
  if (above == all.by_address.begin()) return {};
  const auto& [first, entry] = *std::prev(above);
  return address - first < entry->buffer_.size() ? entry->buffer_ : Buffer();
}

}  // namespace millrace::memory
