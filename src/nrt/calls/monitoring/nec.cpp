// The questions about devices that plugins for collectives ask (nrt/nec.h).
#include "nrt/nec.h"

#include <algorithm>
#include <climits>

#include "ndl/ndl.h"
#include "nrt/calls/call.h"
#include "nrt/nrt_version.h"

using namespace millrace::nrt;

extern "C" {

int nec_get_device_count(int* available_devices_array, uint32_t array_size) {
  return ndl_available_devices(available_devices_array,
                               static_cast<int>(std::min<uint32_t>(array_size, INT_MAX)));
}

NRT_STATUS nec_get_virtual_core_size(uint32_t* virtual_core_size) {
  constexpr const char* kCall = "nec_get_virtual_core_size";
  return contained(kCall, [&] {
    if (virtual_core_size == nullptr)
      return report(kCall, NRT_INVALID, "the result pointer is null");
    *virtual_core_size = 1;
    return NRT_SUCCESS;
  });
}

NRT_STATUS nec_get_version_info(nec_version_info_t* version_info) {
  constexpr const char* kCall = "nec_get_version_info";
  return contained(kCall, [&] {
    if (version_info == nullptr) return report(kCall, NRT_INVALID, "the result pointer is null");
    nrt_version_t version{};
    nrt_get_version(&version, sizeof version);
    version_info->major = version.rt_major;
    version_info->minor = version.rt_minor;
    version_info->patch = version.rt_patch;
    version_info->maintenance = version.rt_maintenance;
    std::ranges::fill(version_info->git_hash, '\0');
    version_info->compatibility_version = version.rt_major;
    return NRT_SUCCESS;
  });
}

}  // extern "C"
