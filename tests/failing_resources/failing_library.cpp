#include "tests/failing_resources/failing_library.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

// The C library's own, under their second names: dlsym would allocate.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

using millrace::test::kResourceCount;
using millrace::test::kResourceNames;
using millrace::test::Resource;

constexpr uint32_t kNone = UINT32_MAX;

std::atomic<uint32_t> failing{kNone};
std::atomic<uint64_t> first{0}, period{0}, calls{0}, failed{0};
std::atomic<bool> shows_stack{false};
constinit thread_local bool spared = false;

void show_stack() {
  if (!shows_stack.load(std::memory_order_relaxed)) return;
  spared = true;
  void* frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
  spared = false;
}

bool fails(Resource resource) {
  if (spared || failing.load(std::memory_order_relaxed) != static_cast<uint32_t>(resource))
    return false;
  const uint64_t call = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t start = first.load(std::memory_order_relaxed);
  const uint64_t every = period.load(std::memory_order_relaxed);
  const bool now = call == start || (every != 0 && call > start && (call - start) % every == 0);
  if (!now) return false;
  failed.fetch_add(1, std::memory_order_relaxed);
  show_stack();
  return true;
}

bool fails_allocation() {
  if (!fails(Resource::kMemory)) return false;
  errno = ENOMEM;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// "RESOURCE:NTH[:EVERY]"
void start_as_told(const char* text) {
  const char* const colon = std::strchr(text, ':');
  if (colon == nullptr) return;
  const std::string_view name(text, static_cast<size_t>(colon - text));
  for (uint32_t i = 0; i < kResourceCount; ++i) {
    if (name != kResourceNames[i]) continue;
    char* end = nullptr;
    const uint64_t nth = std::strtoull(colon + 1, &end, 10);
    millrace_failing_start(i, nth, *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 0);
  }
}

__attribute__((constructor)) void read_environment() {
  if (std::getenv("MILLRACE_FAILING_STACK") != nullptr) {
    void* frame = nullptr;
    backtrace(&frame, 1);  // loads what it needs
    shows_stack = true;
  }
  if (const char* const told = std::getenv("MILLRACE_FAILING")) start_as_told(told);
}

}  // namespace

extern "C" {

void millrace_failing_start(uint32_t resource, uint64_t nth, uint64_t every) {
  failing = kNone;
  first = nth;
  period = every;
  calls = 0;
  failed = 0;
  failing = resource;
}

uint64_t millrace_failing_stop() {
  failing = kNone;
  return calls;
}

uint64_t millrace_failing_failed() {
  return failed;
}

void millrace_failing_spare(bool spared_now) {
  spared = spared_now;
}

void* malloc(size_t bytes) {
  return fails_allocation() ? nullptr : __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  return fails_allocation() ? nullptr : __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  return fails_allocation() ? nullptr : __libc_realloc(memory, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  return fails_allocation() ? nullptr : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails_allocation() ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails_allocation()) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails(Resource::kMapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  static auto* const real = next<decltype(::mmap)>("mmap");
  return real(address, bytes, protection, flags, file, offset);
}

int memfd_create(const char* name, unsigned flags) {
  if (fails(Resource::kFile)) {
    errno = EMFILE;
    return -1;
  }
  static auto* const real = next<decltype(::memfd_create)>("memfd_create");
  return real(name, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  if (fails(Resource::kThread)) return EAGAIN;
  static auto* const real = next<decltype(::pthread_create)>("pthread_create");
  return real(thread, attributes, body, argument);
}

int eventfd(unsigned initial, int flags) {
  if (fails(Resource::kEvent)) {
    errno = EMFILE;
    return -1;
  }
  static auto* const real = next<decltype(::eventfd)>("eventfd");
  return real(initial, flags);
}

}  // extern "C"
