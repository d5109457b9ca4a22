// The caller of each allocation is found by unwinding the stack (backtrace) up to the first frame
// whose code is in a library that counts. The list of libraries has a fixed size, is filled by
// start() and does not change until stop(), so threads search it without a lock.
#include "cli/bench/allocation_trace.h"

#include <errno.h>
#include <execinfo.h>
#include <link.h>

#include <array>
#include <atomic>
#include <string_view>

namespace millrace::cli {
namespace {

constexpr size_t kMaxModules = 256;
constexpr int kMaxFrames = 48;

struct Segment {
  uintptr_t begin = 0, end = 0;
};

// A loaded library, or the program. Its code is one contiguous range of addresses.
struct Module {
  Segment code;
  std::array<char, 64> name{};
  bool passed_over = false;  // it allocates only on behalf of its callers
  std::atomic<uint64_t> count{0};
  std::atomic<uint64_t> bytes{0};
};

// The last entry is for callers in no known library.
std::array<Module, kMaxModules + 1> modules;
size_t module_count = 0;
std::atomic<bool> counting{false};
// Set while a caller is looked up: unwinding may allocate, which must not be counted.
thread_local bool inside = false;

bool is_passed_over(std::string_view name) {
  for (const std::string_view prefix : {"libc.so", "libstdc++.so", "libgcc_s.so", "libm.so",
                                        "libfmt.so", "ld-linux", "libmillrace-reserve.so"})
    if (name.starts_with(prefix)) return true;
  return false;
}

int add_module(dl_phdr_info* info, size_t, void*) {
  if (module_count == kMaxModules) return 1;
  Module& module = modules[module_count++];
  module.code = {};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    module.code.begin = info->dlpi_addr + header.p_vaddr;
    module.code.end = module.code.begin + header.p_memsz;
  }
  std::string_view name = info->dlpi_name;
  if (name.empty()) name = program_invocation_short_name;
  name.remove_prefix(name.rfind('/') + 1);
  module.name.fill(0);
  name.copy(module.name.data(), module.name.size() - 1);
  module.passed_over = is_passed_over(name);
  return 0;
}

Module& module_of(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (size_t i = 0; i < module_count; ++i)
    if (modules[i].code.begin <= at && at < modules[i].code.end) return modules[i];
  return modules[kMaxModules];
}

// Returns the library that allocates. `caller` is the return address of the replaced function:
// earlier frames are those of the counting itself.
Module& who_asked(const void* caller) {
  std::array<void*, kMaxFrames> frames;
  const int depth = backtrace(frames.data(), kMaxFrames);
  int at = 0;
  while (at < depth && frames[at] != caller) ++at;
  for (; at < depth; ++at)
    if (Module& module = module_of(frames[at]); !module.passed_over) return module;
  return modules[kMaxModules];
}

}  // namespace

void AllocationTrace::record(size_t bytes, const void* caller) noexcept {
  if (!counting.load(std::memory_order_acquire) || inside) return;
  inside = true;
  Module& module = who_asked(caller);
  module.count.fetch_add(1, std::memory_order_relaxed);
  module.bytes.fetch_add(bytes, std::memory_order_relaxed);
  inside = false;
}

void AllocationTrace::start() {
  module_count = 0;
  dl_iterate_phdr(add_module, nullptr);
  for (Module& module : modules) module.count = module.bytes = 0;
  // The first call of backtrace loads a library, which allocates.
  void* frame = nullptr;
  backtrace(&frame, 1);
  // Release: a thread that sees `counting` set also sees the modules.
  counting.store(true, std::memory_order_release);
}

std::vector<LibraryAllocations> AllocationTrace::stop() {
  counting.store(false, std::memory_order_release);
  std::vector<LibraryAllocations> found;
  for (const Module& module : modules)
    if (module.count != 0)
      found.push_back({&module == &modules[kMaxModules] ? "elsewhere" : module.name.data(),
                       module.count, module.bytes});
  return found;
}

}  // namespace millrace::cli
