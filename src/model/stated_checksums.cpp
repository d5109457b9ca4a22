#include "model/stated_checksums.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"
#include "base/process/forked_child.h"

namespace millrace::model {
namespace {

using Place = std::pair<const std::byte*, size_t>;

struct Stated {
  std::mutex mutex;
  // A multimap, since several archives may be opened from the same memory.
  std::multimap<Place, uint64_t> checksums;
};

Stated& stated() {
  static NeverDestroyed<Stated> all;
  return all.get();
}

Place place_of(std::span<const std::byte> bytes) noexcept {
  return {bytes.data(), bytes.size()};
}

}  // namespace

StatedChecksum::StatedChecksum(std::span<const std::byte> bytes, uint64_t checksum)
    : bytes_(bytes) {
  if (bytes_.empty()) return;
  const std::lock_guard lock(stated().mutex);
  stated().checksums.emplace(place_of(bytes_), checksum);
}

StatedChecksum::StatedChecksum(StatedChecksum&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

// May erase the entry of another archive for the same bytes. If the two archives state different
// checksums, at least one of them is damaged and is refused anyway.
StatedChecksum::~StatedChecksum() {
  // In a forked child the mutex may be locked for ever, by a thread of the parent.
  if (bytes_.empty() || is_forked_child()) return;
  const std::lock_guard lock(stated().mutex);
  stated().checksums.erase(stated().checksums.find(place_of(bytes_)));
}

std::optional<uint64_t> stated_checksum_of(std::span<const std::byte> bytes) noexcept {
  const std::lock_guard lock(stated().mutex);
  const auto found = stated().checksums.find(place_of(bytes));
  if (found == stated().checksums.end()) return std::nullopt;
  return found->second;
}

}  // namespace millrace::model
