#include "nrt/process/pinned_memory.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>

namespace millrace::nrt {
namespace {

struct PageKind {
  size_t bytes;
  int flags;  // additional flags for mmap
};

std::optional<PageKind> pages_of(nrt_pinned_alloc_type_t type) noexcept {
  switch (type) {
    case NRT_PINNED_MALLOC:
      return PageKind{1, 0};
    case NRT_PINNED_HUGEPAGE_2M:
      return PageKind{size_t{1} << 21, MAP_HUGETLB | MAP_HUGE_2MB};
    case NRT_PINNED_HUGEPAGE_1G:
      return PageKind{size_t{1} << 30, MAP_HUGETLB | MAP_HUGE_1GB};
  }
  return std::nullopt;
}

void* map(size_t bytes, int flags) noexcept {
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

}  // namespace

PinnedMemory& PinnedMemory::of_process() {
  static auto* const memory = new PinnedMemory;
  return *memory;
}

void* PinnedMemory::allocate(size_t bytes, nrt_pinned_alloc_type_t type) {
  const std::optional<PageKind> pages = pages_of(type);
  if (!pages || bytes == 0 || bytes > std::numeric_limits<size_t>::max() - pages->bytes)
    return nullptr;
  size_t mapped = (bytes + pages->bytes - 1) / pages->bytes * pages->bytes;
  void* address = map(mapped, pages->flags);
  if (address == nullptr && pages->flags != 0) {
    mapped = bytes;
    address = map(mapped, 0);
  }
  if (address == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  try {
    mapped_.emplace(address, mapped);
  } catch (const std::bad_alloc&) {
    munmap(address, mapped);
    return nullptr;
  }
  return address;
}

bool PinnedMemory::free(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = mapped_.find(address);
  if (found == mapped_.end()) return false;
  munmap(address, found->second);
  mapped_.erase(found);
  return true;
}

}  // namespace millrace::nrt
