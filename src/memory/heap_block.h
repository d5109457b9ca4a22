// HeapBlock: zero-filled heap memory, aligned to 64 bytes for vector instructions.
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

// Allocates a block; null when memory is exhausted. Requirement: rounding `bytes` up to the
// alignment does not overflow.
inline HeapBlock make_heap_block(size_t bytes) noexcept {
  const size_t rounded = align_up(bytes, kHeapAlignment);
  HeapBlock block(static_cast<std::byte*>(std::aligned_alloc(kHeapAlignment, rounded)));
  if (block) std::memset(block.get(), 0, rounded);
  return block;
}

}  // namespace millrace::memory
