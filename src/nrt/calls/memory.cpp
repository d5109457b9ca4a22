// Statistics and reports on the device memory of the cores, nrt_memcpy_to_device, and pinned memory
// of the host.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "nrt/calls/call.h"
#include "nrt/calls/out_values.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/objects/tensor.h"
#include "nrt/process/pinned_memory.h"

namespace millrace::nrt {
namespace {

struct Allocation {
  uint64_t device_address = 0;
  uint64_t bytes = 0;
  std::string name;  // of the first tensor that was found to use it
};

// Returns the allocations of the live tensors of a core, the largest first. Slices share the
// allocation of their tensor, which is listed once.
std::vector<Allocation> allocations_on(int core) {
  std::vector<Allocation> allocations;
  std::set<const Storage*> seen;
  TensorHandles::of_process().for_each([&](const Tensor& tensor) {
    const Storage* const storage = tensor.storage().get();
    if (tensor.core() != core || storage == nullptr || !seen.insert(storage).second) return;
    allocations.push_back(
        {storage->memory.device_address(), storage->memory.size(), tensor.name()});
  });
  std::ranges::stable_sort(allocations, std::greater<>(), &Allocation::bytes);
  return allocations;
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats,
                                    size_t stats_size_in, size_t* stats_size_out) {
  constexpr const char* kCall = "nrt_get_vnc_memory_stats";
  return with_core(kCall, vnc, [&](Runtime& runtime) {
    if (stats == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const millrace::memory::Bank& bank = runtime.bank(static_cast<int>(vnc));
    const nrt_vnc_memory_stats_t own{bank.used(), bank.size()};
    const size_t written = copy_out(own, stats, stats_size_in);
    if (stats_size_out != nullptr) *stats_size_out = written;
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_dump_device_allocation_info(int lnc, struct neuron_ioctl_mem_chunk_info* data,
                                           uint32_t* num_entries) {
  constexpr const char* kCall = "nrt_dump_device_allocation_info";
  return with_core(kCall, lnc, [&](Runtime&) {
    if (data == nullptr || num_entries == nullptr)
      return report(kCall, NRT_INVALID, "an argument is null");
    const std::vector<Allocation> allocations = allocations_on(lnc);
    const size_t written = std::min<size_t>(allocations.size(), *num_entries);
    for (size_t i = 0; i < written; ++i)
      data[i] = {allocations[i].device_address, allocations[i].bytes, 0};
    *num_entries = static_cast<uint32_t>(written);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_debug_log_oom_report(int lnc) {
  return with_core("nrt_debug_log_oom_report", lnc, [&](Runtime& runtime) {
    constexpr size_t kMostLines = 20;
    const millrace::memory::Bank& bank = runtime.bank(lnc);
    const std::vector<Allocation> allocations = allocations_on(lnc);
    const auto print = [](std::string_view line) {
      log(millrace::LogLevel::kWarning, "nrt", line);
    };
    print(fmt::format("memory of core {}: {} of {} bytes are used; {} tensors", lnc, bank.used(),
                      bank.size(), allocations.size()));
    for (size_t i = 0; i < std::min(allocations.size(), kMostLines); ++i)
      print(fmt::format("  tensor \"{}\": {} bytes", allocations[i].name, allocations[i].bytes));
    if (allocations.size() > kMostLines)
      print(fmt::format("  and {} smaller tensors", allocations.size() - kMostLines));
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_memcpy_to_device(void* dest, const void* src, size_t size) {
  constexpr const char* kCall = "nrt_memcpy_to_device";
  return with_runtime(kCall, [&](Runtime&) {
    if (size == 0) return NRT_SUCCESS;
    if (dest == nullptr || src == nullptr) return report(kCall, NRT_INVALID, "an address is null");
    std::memcpy(dest, src, size);
    return NRT_SUCCESS;
  });
}

void* nrt_pinned_malloc(size_t size, nrt_pinned_alloc_type_t type) {
  void* address = nullptr;
  const trace::CallScope traced("nrt_pinned_malloc");
  contained("nrt_pinned_malloc", [&] {
    address = PinnedMemory::of_process().allocate(size, type);
    return NRT_SUCCESS;
  });
  return address;
}

void nrt_pinned_free(void* ptr) {
  if (ptr == nullptr) return;
  const trace::CallScope traced("nrt_pinned_free");
  contained("nrt_pinned_free", [&] {
    if (PinnedMemory::of_process().free(ptr)) return NRT_SUCCESS;
    return report("nrt_pinned_free", NRT_INVALID,
                  "nrt_pinned_malloc did not return the address, or it was freed already");
  });
}

}  // extern "C"
