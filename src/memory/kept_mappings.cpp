#include "memory/kept_mappings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/never_destroyed.h"
#include "memory/mapping.h"

namespace millrace::memory {

KeptMappings& KeptMappings::of_process() noexcept {
  static NeverDestroyed<KeptMappings> made;
  return made.get();
}

void KeptMappings::keep(const std::shared_ptr<Mapping>& mapping) {
  if (mapping->bytes() > kKeptBytes) return;
  List dropped;  // destroyed after the lock, so that other threads do not wait for munmap()
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, mapping);
  if (found == kept_.end())
    kept_.insert(kept_.begin(), mapping);
  else
    std::rotate(kept_.begin(), found, found + 1);
  const auto first_too_many = kept_.begin() + static_cast<ptrdiff_t>(limit());
  if (first_too_many == kept_.end()) return;
  dropped.assign(std::move_iterator(first_too_many), std::move_iterator(kept_.end()));
  kept_.erase(first_too_many, kept_.end());
}

bool KeptMappings::release_all() {
  List dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(kept_);
  return !dropped.empty();
}

size_t KeptMappings::limit() const {
  size_t bytes = 0;
  const auto first_too_many = std::ranges::find_if(kept_, [&](const auto& one) {
    bytes += one->bytes();
    return bytes > kKeptBytes;
  });
  return std::min(static_cast<size_t>(first_too_many - kept_.begin()), kKeptMappings);
}

}  // namespace millrace::memory
