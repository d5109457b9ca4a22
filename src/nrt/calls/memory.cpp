// The memory of the cores, and pinned memory of the host.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "nrt/calls/call.h"
#include "nrt/calls/copy_out.h"
#include "nrt/calls/core_memory.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/process/pinned_memory.h"

namespace millrace::nrt {
namespace {

// Runs `body(runtime)` for a visible core.
template <class Body>
NRT_STATUS with_core(const char* call, int64_t core, Body&& body) noexcept {
  return with_runtime(call, [&](Runtime& runtime) {
    if (const Status status = runtime.check_core(core); !status.ok()) return report(call, status);
    return body(runtime);
  });
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
    const std::vector<MemoryPiece> pieces = memory_pieces(lnc);
    const size_t written = std::min<size_t>(pieces.size(), *num_entries);
    for (size_t i = 0; i < written; ++i) data[i] = {pieces[i].device_address, pieces[i].bytes, 0};
    *num_entries = static_cast<uint32_t>(written);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_debug_log_oom_report(int lnc) {
  return with_core("nrt_debug_log_oom_report", lnc, [&](Runtime& runtime) {
    constexpr size_t kMostLines = 20;
    const millrace::memory::Bank& bank = runtime.bank(lnc);
    const std::vector<MemoryPiece> pieces = memory_pieces(lnc);
    const auto say = [](std::string_view line) { log(millrace::LogLevel::kWarning, "nrt", line); };
    say(fmt::format("memory of core {}: {} of {} bytes are used; {} tensors", lnc, bank.used(),
                    bank.size(), pieces.size()));
    for (size_t i = 0; i < std::min(pieces.size(), kMostLines); ++i)
      say(fmt::format("  tensor \"{}\": {} bytes", pieces[i].name, pieces[i].bytes));
    if (pieces.size() > kMostLines)
      say(fmt::format("  and {} smaller tensors", pieces.size() - kMostLines));
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
    return report("nrt_pinned_free", NRT_INVALID, "the address is none of nrt_pinned_malloc's");
  });
}

}  // extern "C"
