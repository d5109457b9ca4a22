#include "tests/support/counting_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> allocations{0}, bytes_in_all{0};

// Allocations of this thread that are left until one fails; none fails if it is negative.
constinit thread_local long left = -1;

void* counted_or_null(size_t bytes, size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes_in_all.fetch_add(bytes, std::memory_order_relaxed);
  if (left >= 0 && left-- == 0) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* counted(size_t bytes, size_t alignment) {
  if (void* memory = counted_or_null(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace millrace::test {

size_t allocation_count() noexcept {
  return allocations.load(std::memory_order_relaxed);
}

size_t allocated_bytes() noexcept {
  return bytes_in_all.load(std::memory_order_relaxed);
}

FailingAllocation::FailingAllocation(size_t count) noexcept {
  left = static_cast<long>(count);
}
FailingAllocation::~FailingAllocation() {
  left = -1;
}
bool FailingAllocation::happened() const noexcept {
  return left < 0;
}

}  // namespace millrace::test
