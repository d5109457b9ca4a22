// Host memory for programs that ask for pinned pages. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "nrt/nrt.h"

namespace millrace::nrt {

class PinnedMemory {
 public:
  // The one of the process; never destroyed, since programs free while they exit.
  static PinnedMemory& of_process();

  // Zero-filled and page-aligned; in huge pages if the system has enough of them free. Null when
  // there is no memory, for size 0, and for a type that does not exist.
  void* allocate(size_t bytes, nrt_pinned_alloc_type_t type);
  // False for an address that allocate did not return, or that was freed.
  bool free(void* address);

 private:
  std::mutex mutex_;
  std::map<void*, size_t> mapped_;  // address to bytes
};

}  // namespace millrace::nrt
