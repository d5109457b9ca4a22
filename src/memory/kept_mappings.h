// KeptMappings: mappings that stay for a while after their last user, so that a program which makes
// its tensors anew for every frame maps nothing. Those that were used last stay. Thread-safe.
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

// The number of mappings that may be kept, and of their bytes together.
inline constexpr size_t kKeptMappings = 16;
inline constexpr size_t kKeptBytes = size_t{64} << 20;

class KeptMappings {
 public:
  // The kept mappings of the process. Never destroyed: mappings may be released while it exits.
  static KeptMappings& of_process() noexcept;

  // Keeps the mapping as the one used last, unless it is larger than kKeptBytes.
  void keep(const std::shared_ptr<Mapping>& mapping);
  // Releases all of them. Returns whether there were any.
  bool release_all();

 private:
  using List = std::vector<std::shared_ptr<Mapping>>;
  // The number of mappings of the list that may stay.
  size_t limit() const;

  std::mutex mutex_;
  List kept_;  // the one used last comes first
};

// The descriptor that open() gives, which returns a negative number and sets errno where there is
// none. Called once more when the process has no descriptor left and kept mappings gave theirs
// back.
template <class Open>
UniqueFd open_descriptor(Open&& open) {
  UniqueFd made = own_descriptor(open());
  if (made || errno != EMFILE || is_forked_child()) return made;
  if (KeptMappings::of_process().release_all()) return own_descriptor(open());
  errno = EMFILE;
  return made;
}

}  // namespace millrace::memory
