// PinnedMemory: the host memory that nrt_pinned_malloc returns, mapped with mmap(2). The pages are
// not locked in memory, since the software NPU does not access them by DMA. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "nrt/nrt.h"

namespace millrace::nrt {

class PinnedMemory {
 public:
  // Returns the only object in the process. It is never destroyed, since programs may free memory
  // while they exit.
  static PinnedMemory& of_process();

  // Allocates zero-filled, page-aligned memory. The huge-page types fall back to normal pages if
  // the system has too few huge pages free. Null when memory is exhausted, for size 0, and for an
  // unknown type.
  void* allocate(size_t bytes, nrt_pinned_alloc_type_t type);
  // Frees memory. False for an address that allocate() did not return, or that was freed already.
  bool free(void* address);

 private:
  std::mutex mutex_;
  std::map<void*, size_t> mapped_;  // bytes of each mapping, by its address
};

}  // namespace millrace::nrt
