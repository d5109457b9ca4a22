// Makes one call for a resource of the process fail: an allocation, a mapping, a thread and so on.
//
// libmillrace_failing.so is loaded with LD_PRELOAD, in front of the C library. A program controls
// it by these functions, which it finds with dlsym; a program that knows nothing of them by the
// environment, from its start:
//
//   MILLRACE_FAILING=memory:1000        the call number 1000 fails, counted over all threads
//   MILLRACE_FAILING=memory:1000:500    from then on every five-hundredth
//
// Thread-safe.
#pragma once

#include <cstdint>

namespace millrace::test {

enum class Resource : uint32_t {
  kMemory,   // malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign; operator new
  kMapping,  // mmap
  kFile,     // memfd_create
  kThread,   // pthread_create
  kEvent,    // eventfd
};
inline constexpr const char* kResourceNames[] = {"memory", "mapping", "file", "thread", "event"};
inline constexpr uint32_t kResourceCount = 5;

}  // namespace millrace::test

extern "C" {
// From now on counts the calls for the resource, from 1. Call number `nth` fails, and after it, if
// `every` is not 0, every call that comes `every` further.
void millrace_failing_start(uint32_t resource, uint64_t nth, uint64_t every);
// Lets all calls succeed again. Returns how many have been counted.
uint64_t millrace_failing_stop();
// How many calls were made to fail since the last start.
uint64_t millrace_failing_failed();
// From now on the calls of this thread succeed and are not counted, or no longer do so.
void millrace_failing_spare(bool spared);
}
