// Replaces malloc and its relatives for the whole program, to count allocations. operator new ends
// in them, too.
#include <errno.h>

#include "cli/bench/allocation_trace.h"

// glibc's own functions, under the names it keeps for programs that replace the public ones.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {
constexpr auto record = millrace::cli::AllocationTrace::record;
}

extern "C" {

void* malloc(size_t bytes) noexcept {
  record(bytes, __builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) noexcept {
  record(count * bytes, __builtin_return_address(0));
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) noexcept {
  record(bytes, __builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  record(bytes, __builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) noexcept {
  record(bytes, __builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  record(bytes, __builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
