#include "tests/vart/copy_counter.h"

#include <strings.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace millrace::test {
namespace {

std::atomic<uint64_t> count{0};

void note(size_t bytes) {
  if (bytes >= kLargeCopy) count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

uint64_t large_copies() noexcept {
  return count.load(std::memory_order_relaxed);
}

}  // namespace millrace::test

// The C library does the work under names that nothing else calls. This source is compiled with
// -fno-builtin, since the compiler would turn those into the names that are replaced.
extern "C" {

void* memcpy(void* to, const void* from, size_t bytes) {
  millrace::test::note(bytes);
  mempcpy(to, from, bytes);
  return to;
}

void* memmove(void* to, const void* from, size_t bytes) {
  millrace::test::note(bytes);
  bcopy(from, to, bytes);
  return to;
}

void* __memcpy_chk(void* to, const void* from, size_t bytes, size_t room) {
  if (bytes > room) std::abort();
  return memcpy(to, from, bytes);
}

void* __memmove_chk(void* to, const void* from, size_t bytes, size_t room) {
  if (bytes > room) std::abort();
  return memmove(to, from, bytes);
}

}  // extern "C"
