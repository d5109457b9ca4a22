// KeptMappings: an LRU cache of imported mappings, which it keeps alive after their last user is
// gone, so that a program which imports the same memory again for every frame maps nothing.
// Thread-safe.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "base/files/own_descriptor.h"
#include "base/process/forked_child.h"
#include "base/unique_fd.h"

namespace millrace::memory {

class Mapping;

// The limits of the cache: the number of mappings, and their total size.
inline constexpr size_t kKeptMappings = 16;
inline constexpr size_t kKeptBytes = size_t{64} << 20;

class KeptMappings {
 public:
  // Returns the cache of the process. It is never destroyed, since mappings may be released while
  // the process exits.
  static KeptMappings& of_process() noexcept;

  // Makes the mapping the most recently used one, unless it is larger than kKeptBytes. Removes
  // those that exceed the limits.
  void keep(const std::shared_ptr<Mapping>& mapping);
  // Releases all mappings. True if there were any.
  bool release_all();

 private:
  using List = std::vector<std::shared_ptr<Mapping>>;
  // Returns the number of mappings, from the front of the list, that are within the limits.
  size_t limit() const;

  std::mutex mutex_;
  List kept_;  // the most recently used mapping is the first
};

// Returns the descriptor that open() returns; empty, with errno set, if that is negative. When the
// process has no descriptor left, releases the cached mappings and calls open() once more.
template <class Open>
UniqueFd open_descriptor(Open&& open) {
  UniqueFd made = own_descriptor(open());
  if (made || errno != EMFILE || is_forked_child()) return made;
  if (KeptMappings::of_process().release_all()) return own_descriptor(open());
  errno = EMFILE;
  return made;
}

}  // namespace millrace::memory
