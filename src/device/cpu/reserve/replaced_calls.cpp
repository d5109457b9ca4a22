// The functions for memory that the kernel libraries get, and when they get them.
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/align.h"
#include "device/cpu/reserve/imports.h"
#include "device/cpu/reserve/kept_objects.h"
#include "device/cpu/reserve/library.h"
#include "device/cpu/reserve/reserve.h"

namespace millrace::device::cpu::reserve {
namespace {

// Larger ones are scratch and weights, which the kernel libraries check for.
constexpr size_t kLargest = size_t{2} << 20;

void* from_reserve(size_t bytes, size_t alignment = alignof(std::max_align_t)) noexcept {
  return bytes > kLargest ? nullptr : allocate(std::max<size_t>(bytes, 1), alignment);
}

void* reserved_malloc(size_t bytes) noexcept {
  void* const memory = std::malloc(bytes);
  return memory != nullptr ? memory : from_reserve(bytes);
}

void* reserved_calloc(size_t count, size_t bytes) noexcept {
  void* memory = std::calloc(count, bytes);
  size_t all = 0;
  if (memory != nullptr || __builtin_mul_overflow(count, bytes, &all)) return memory;
  memory = from_reserve(all);
  return memory == nullptr ? nullptr : std::memset(memory, 0, all);
}

void reserved_free(void* memory) noexcept {
  owns(memory) ? release(memory) : std::free(memory);
}

void* reserved_realloc(void* memory, size_t bytes) noexcept {
  const bool reserved = owns(memory);
  void* larger = reserved ? nullptr : std::realloc(memory, bytes);
  if (larger != nullptr || bytes == 0) return larger;
  larger = reserved ? reserved_malloc(bytes) : from_reserve(bytes);
  if (larger == nullptr || memory == nullptr) return larger;
  const size_t before = reserved ? size_of(memory) : malloc_usable_size(memory);
  std::memcpy(larger, memory, std::min(bytes, before));
  reserved_free(memory);
  return larger;
}

int reserved_posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  const int error = posix_memalign(memory, alignment, bytes);
  if (error != ENOMEM) return error;
  void* const reserved = from_reserve(bytes, alignment);
  if (reserved == nullptr) return ENOMEM;
  *memory = reserved;
  return 0;
}

void* reserved_memalign(size_t alignment, size_t bytes) noexcept {
  void* memory = nullptr;
  return reserved_posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) == 0 ? memory
                                                                                          : nullptr;
}

// Running a primitive comes here four times: the nothrow form would be one more call each time.
void* reserved_new(size_t bytes) {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    void* const memory = from_reserve(bytes);
    if (memory == nullptr) throw;
    return memory;
  }
}

void* reserved_new_nothrow(size_t bytes, const std::nothrow_t&) noexcept {
  void* const memory = ::operator new(bytes, std::nothrow);
  return memory != nullptr ? memory : from_reserve(bytes);
}

void reserved_delete(void* memory) noexcept {
  owns(memory) ? release(memory) : ::operator delete(memory);
}

void reserved_sized_delete(void* memory, size_t) noexcept {
  reserved_delete(memory);
}

// Whether this thread initialises the kernel libraries or makes a primitive.
constinit thread_local bool is_in_kernel_library __attribute__((tls_model("initial-exec"))) = false;

// For the C++ library's operator new, whose memory any code may delete.
void* reserved_malloc_of_standard_library(size_t bytes) noexcept {
  return is_in_kernel_library ? reserved_malloc(bytes) : std::malloc(bytes);
}

// Generated code.
void* reserved_mmap(void* address, size_t bytes, int protection, int flags, int file,
                    off_t offset) noexcept {
  void* const memory = mmap(address, bytes, protection, flags, file, offset);
  if (memory != MAP_FAILED || (flags & MAP_ANONYMOUS) == 0) return memory;
  const size_t pages = (bytes + kPage - 1) / kPage * kPage;
  void* const reserved = from_reserve(pages, kPage);
  if (reserved == nullptr) return MAP_FAILED;
  std::memset(reserved, 0, pages);
  return reserved;
}

int reserved_munmap(void* memory, size_t bytes) noexcept {
  if (!owns(memory)) return munmap(memory, bytes);
  mprotect(memory, bytes, PROT_READ | PROT_WRITE);
  release(memory);
  return 0;
}

// The destructors of oneDNN's static objects never run. A program may load and run models while it
// exits, in destructors of its own static objects and in handlers of atexit(). Those that were
// registered before oneDNN was loaded would run after oneDNN has destroyed the data from which
// primitives are made. The objects end with the process, as does the code that uses them: the
// plugin is never unloaded.
constinit std::atomic<int> objects_kept{0};

int keep_object(void (*)(void*), void*, void*) noexcept {
  objects_kept.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

#if defined(__x86_64__)

// libdnnl's thread-local variables, a few pointers. The dynamic loader allocates them for each
// thread at its first access and ends the process when it cannot. These are part of every thread
// instead.
constexpr size_t kThreadDataAlignment = 64;
alignas(kThreadDataAlignment) constinit thread_local std::byte thread_data[kThreadVariableBytes]
    __attribute__((tls_model("initial-exec"))) = {};
constinit size_t replaced_module = 0;

struct ThreadDataIndex {  // as the processor's calling convention defines it
  size_t module;
  size_t offset;
};

// No header declares it.
extern "C" void* __tls_get_addr(ThreadDataIndex* index);  // NOLINT(bugprone-reserved-identifier)

void* reserved_tls_get_addr(ThreadDataIndex* index) {
  return index->module == replaced_module ? thread_data + index->offset : __tls_get_addr(index);
}

// Whether all variables begin as zero and fit.
bool fits(const ElfW(Phdr) & header) {
  return header.p_filesz == 0 && header.p_memsz <= kThreadVariableBytes &&
         header.p_align <= kThreadDataAlignment;
}

int replace_thread_data(const dl_phdr_info& library) {
  if (library.dlpi_tls_data != nullptr) return 0;  // this thread has values in them already
  for (const ElfW(Phdr) & header : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (header.p_type != PT_TLS || !fits(header)) continue;
    replaced_module = library.dlpi_tls_modid;
    const Replacement replacement{"__tls_get_addr", address_of(reserved_tls_get_addr)};
    return replace_imports(library, {&replacement, 1});
  }
  return 0;
}

#else

// On other processors these variables are reached without a function that could be replaced.
int replace_thread_data(const dl_phdr_info&) {
  return 0;
}

#endif

int replace_memory_calls(const dl_phdr_info& library) {
  const std::array replacements{
      Replacement{"malloc", address_of(reserved_malloc)},
      Replacement{"calloc", address_of(reserved_calloc)},
      Replacement{"realloc", address_of(reserved_realloc)},
      Replacement{"memalign", address_of(reserved_memalign)},
      Replacement{"posix_memalign", address_of(reserved_posix_memalign)},
      Replacement{"free", address_of(reserved_free)},
      Replacement{"_Znwm", address_of(reserved_new)},
      Replacement{"_ZnwmRKSt9nothrow_t", address_of(reserved_new_nothrow)},
      Replacement{"_ZdlPv", address_of(reserved_delete)},
      Replacement{"_ZdlPvm", address_of(reserved_sized_delete)},
      Replacement{"_Znam", address_of(reserved_new)},
      Replacement{"_ZdaPv", address_of(reserved_delete)},
      Replacement{"mmap", address_of(reserved_mmap)},
      Replacement{"munmap", address_of(reserved_munmap)},
  };
  return replace_imports(library, replacements);
}

void replace_calls_of_standard_library() {
  const auto library = find_library("libstdc++.so.6");
  if (!kAllocatesInStandardLibrary || !library) return;
  // No memory of the reserve may get to a free() that does not know it.
  const Replacement release{"free", address_of(reserved_free)};
  const Replacement allocate{"malloc", address_of(reserved_malloc_of_standard_library)};
  if (replace_imports(*library, {&release, 1}) > 0) replace_imports(*library, {&allocate, 1});
}

int replace_registration(const dl_phdr_info& library) {
  const Replacement replacement{"__cxa_atexit", address_of(keep_object)};
  return replace_imports(library, {&replacement, 1});
}

constinit std::optional<int> in_gomp, in_dnnl;

// Runs before the constructors of the kernel libraries, which allocate: the linker marks this
// library as the one to be initialised first.
__attribute__((constructor)) void replace_early() {
  replace_calls();
  is_in_kernel_library = true;
  // Nobody has used the thread-local variables yet.
  if (const auto dnnl = find_library(kLibraryName)) *in_dnnl += replace_thread_data(*dnnl);
}

}  // namespace

int replace_calls() noexcept {
  const auto gomp = find_library("libgomp.so.1");
  if (gomp && !in_gomp) in_gomp = replace_memory_calls(*gomp);
  const auto dnnl = find_library(kLibraryName);
  if (dnnl && !in_dnnl) {
    in_dnnl = replace_memory_calls(*dnnl) + replace_registration(*dnnl);
    bind_to_itself(*dnnl);
    replace_calls_of_standard_library();
  }
  return in_gomp.value_or(0) + in_dnnl.value_or(0);
}

void end_initialisation() noexcept {
  is_in_kernel_library = false;
}

MakingPrimitive::MakingPrimitive() noexcept {
  is_in_kernel_library = true;
}

MakingPrimitive::~MakingPrimitive() {
  is_in_kernel_library = false;
}

bool keeps_objects() noexcept {
  return objects_kept.load(std::memory_order_relaxed) > 0;
}

}  // namespace millrace::device::cpu::reserve
