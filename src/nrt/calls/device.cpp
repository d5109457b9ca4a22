// The calls by which programs identify the device, and the calls for hardware features that the
// software NPU does not have, which return NRT_INVALID.
#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/log.h"
#include "nrt/calls/call.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/terms/device_layout.h"

namespace millrace::nrt {
namespace {

// Refuses a call for a feature that the software NPU does not have. Programs continue without the
// feature, so the refusal is logged at INFO and not as an error.
NRT_STATUS decline(const char* call, const char* what) noexcept {
  return with_runtime(call, [&](Runtime&) {
    if (log_enabled(LogLevel::kInfo))
      log(LogLevel::kInfo, "nrt", fmt::format("{}: the software NPU has no {}", call, what));
    return NRT_INVALID;
  });
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;

extern "C" {

NRT_STATUS nrt_get_device_id(int lnc, int* device_id) {
  constexpr const char* kCall = "nrt_get_device_id";
  return with_core(kCall, lnc, [&](Runtime& runtime) {
    if (device_id == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const Settings& settings = runtime.settings();
    const uint32_t core = settings.cores.first + static_cast<uint32_t>(lnc);
    *device_id = static_cast<int>(core / cores_per_device(settings.all_cores));
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id) {
  constexpr const char* kCall = "nrt_host_device_id_get";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (host_device_id == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    const uint32_t devices = devices_of(runtime.settings().all_cores);
    if (neuron_dev < 0 || static_cast<uint32_t>(neuron_dev) >= devices)
      return report(kCall, NRT_INVALID, fmt::format("there is no device {}", neuron_dev));
    *host_device_id = static_cast<uint32_t>(neuron_dev);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* host_did_to_rid_map) {
  constexpr const char* kCall = "nrt_host_device_id_rid_map_get";
  return with_runtime(kCall, [&](Runtime& runtime) {
    if (count == nullptr || host_did_to_rid_map == nullptr)
      return report(kCall, NRT_INVALID, "an argument is null");
    const uint32_t devices = devices_of(runtime.settings().all_cores);
    if (*count < devices)
      return report(
          kCall, NRT_INVALID,
          fmt::format("the table has room for {} devices, but there are {}", *count, devices));
    *count = devices;
    std::iota(host_did_to_rid_map, host_did_to_rid_map + devices, 0u);
    return NRT_SUCCESS;
  });
}

NRT_STATUS nrt_get_dmabuf_fd(uint64_t, uint64_t, int*) {
  return decline("nrt_get_dmabuf_fd", "DMA-BUF");
}
NRT_STATUS nrt_get_dmabuf_fd_v2(uint64_t, uint64_t, int*, uint64_t*) {
  return decline("nrt_get_dmabuf_fd_v2", "DMA-BUF");
}
NRT_STATUS nrt_get_hbm_mmap_va(int, int, void**, size_t*) {
  return decline("nrt_get_hbm_mmap_va", "mapping of a memory bank");
}
NRT_STATUS nrt_get_attached_efa_bdf(const void*, char*, size_t*) {
  return decline("nrt_get_attached_efa_bdf", "network adapter");
}

void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size) {
  constexpr std::string_view kReason = "the software NPU has no network plugin for collectives";
  if (err != nullptr) *err = NRT_FAILURE;
  if (err_msg != nullptr && err_msg_size > 0)
    err_msg[kReason.copy(err_msg, err_msg_size - 1)] = '\0';
  return nullptr;
}

NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* ucode_info) {
  constexpr const char* kCall = "nrt_set_pool_eng_ucode";
  return contained(kCall, [&] {
    return ucode_info == nullptr ? report(kCall, NRT_INVALID, "the description is null")
                                 : NRT_SUCCESS;
  });
}

}  // extern "C"
