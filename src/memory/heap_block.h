// HeapBlock: zero-filled heap memory, aligned for any kernel.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/align.h"

namespace millrace::memory {

inline constexpr size_t kHeapAlignment = 64;

struct FreeDeleter {
  void operator()(std::byte* data) const noexcept { std::free(data); }
};
using HeapBlock = std::unique_ptr<std::byte, FreeDeleter>;

// Null when out of memory. Requirement: `bytes` can be rounded up to the alignment.
inline HeapBlock make_heap_block(size_t bytes) noexcept {
  const size_t rounded = align_up(bytes, kHeapAlignment);
  HeapBlock block(static_cast<std::byte*>(std::aligned_alloc(kHeapAlignment, rounded)));
  if (block) std::memset(block.get(), 0, rounded);
  return block;
}

}  // namespace millrace::memory
