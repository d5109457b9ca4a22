// The part of the vendor's driver library that programs use to watch devices (ndl/ndl.h).
#include "ndl/ndl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "base/settings/environment.h"
#include "memory/bank.h"
#include "nrt/calls/monitoring/monitor_call.h"
#include "nrt/counters/counter_files.h"
#include "nrt/process/settings.h"
#include "nrt/terms/device_layout.h"

namespace millrace::nrt {
namespace {

// There is no driver, so the version of libnrt is returned as that of the driver.
constexpr uint16_t kMajor = 2, kMinor = 34;

Status null_pointer() {
  return invalid_argument("a pointer is null");
}

// Returns the cores of the machine. Programs that watch are mostly started in another environment
// than those that they watch, so what these say comes before the default of this process. Where
// they differ, those count that take the most devices.
Result<uint32_t> watched_cores() {
  if (!environment_variable("MILLRACE_NRT_CORES").empty()) return total_cores();
  uint32_t cores = 0;
  for (const ProcessWithCounters& process : processes_with_counters()) {
    const uint32_t all = process.counters->all_cores.load();
    if (all == 0 || all > kMostCores) continue;
    if (cores == 0 || devices_of(all) > devices_of(cores)) cores = all;
  }
  if (cores == 0) return total_cores();
  return cores;
}

// Returns the memory of the cores of a device; 0 if they have no limit. By default the visible
// cores share the machine's memory, so there is none for others.
Result<size_t> memory_of_device(uint32_t cores) {
  MILLRACE_ASSIGN_OR_RETURN(const Settings settings, settings_of_environment());
  if (settings.core_memory == memory::kUnlimited) return 0;
  return settings.core_memory * std::min(cores, settings.cores.count);
}

Status open_device(int index, ndl_device_t** device) {
  if (device == nullptr) return null_pointer();
  MILLRACE_ASSIGN_OR_RETURN(const uint32_t cores, watched_cores());
  const uint32_t devices = devices_of(cores);
  if (index < 0 || static_cast<uint32_t>(index) >= devices)
    return invalid_argument(fmt::format("there is no device {}: there are {}", index, devices));
  MILLRACE_ASSIGN_OR_RETURN(const size_t bytes, memory_of_device(cores_per_device(cores)));
  auto* const opened = static_cast<ndl_device_t*>(std::calloc(1, sizeof(ndl_device_t)));
  if (opened == nullptr) return {StatusCode::kOutOfMemory, "out of memory"};
  opened->device_index = static_cast<uint8_t>(index);
  opened->hbm_size = bytes;
  *device = opened;
  return {};
}

// Describes what a process has of a device; a map of no cores if it sees none of them.
neuron_app_info describe(const ProcessWithCounters& process, uint32_t device, uint16_t flags) {
  neuron_app_info info{};
  info.pid = process.pid;
  const CounterFile& counters = *process.counters;
  const uint32_t count = std::min(counters.count.load(), kMostCores);
  const uint32_t all_cores = counters.all_cores.load();
  if (all_cores == 0) return info;
  const uint32_t per_device = cores_per_device(all_cores);
  for (uint32_t core = 0; core < count; ++core) {
    const uint32_t on_machine = counters.first.load() + core;
    if (on_machine >= kMostCores || on_machine / per_device != device) continue;
    info.nc_lock_map = static_cast<uint8_t>(info.nc_lock_map | 1u << on_machine % per_device);
    if ((flags & APP_INFO_PID_MEM_USAGE) == 0) continue;
    for (const size_t counter :
         {NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE, NDS_NC_COUNTER_MEM_USAGE_CONSTANTS_DEVICE})
      info.device_mem_size += counters.cores[on_machine].value(counter);
  }
  return info;
}

Status find_apps(const ndl_device_t* device, neuron_app_info** info, size_t* count,
                 uint16_t flags) {
  if (device == nullptr || info == nullptr || count == nullptr) return null_pointer();
  std::vector<neuron_app_info> apps;
  for (const ProcessWithCounters& process : processes_with_counters()) {
    const neuron_app_info app = describe(process, device->device_index, flags);
    if (app.nc_lock_map == 0) continue;
    apps.push_back(app);
    if ((flags & APP_INFO_PID_NC_LOCK_INFO) == 0) apps.back().nc_lock_map = 0;
  }
  neuron_app_info* copy = nullptr;
  if (!apps.empty()) {
    copy = static_cast<neuron_app_info*>(std::malloc(apps.size() * sizeof(neuron_app_info)));
    if (copy == nullptr) return {StatusCode::kOutOfMemory, "out of memory"};
    std::ranges::copy(apps, copy);
  }
  *info = copy;
  *count = apps.size();
  return {};
}

}  // namespace
}  // namespace millrace::nrt

using namespace millrace::nrt;
using millrace::invalid_argument;
using millrace::Result;
using millrace::Status;

extern "C" {

int ndl_get_version(ndl_version_info_t* version) {
  return monitor_call("ndl_get_version", [&]() -> Status {
    if (version == nullptr) return null_pointer();
    constexpr std::string_view kText = "Millrace " MILLRACE_VERSION;
    *version = {.driver_major_version = kMajor,
                .driver_minor_version = kMinor,
                .driver_full_version = {},
                .library_major_version = NEURON_DRIVER_LIBRARY_MAJOR,
                .library_minor_version = NEURON_DRIVER_LIB_MINOR};
    kText.copy(version->driver_full_version, DRIVER_VERSION_MAX_SIZE - 1);
    return {};
  });
}

int ndl_get_compatible_version(uint32_t* min_compatible_version, uint32_t* max_compatible_version) {
  return monitor_call("ndl_get_compatible_version", [&]() -> Status {
    if (min_compatible_version == nullptr || max_compatible_version == nullptr)
      return null_pointer();
    *min_compatible_version = *max_compatible_version = kMajor;
    return {};
  });
}

int ndl_available_devices(int* device_indexes, int device_indexes_size) {
  int stored = 0;
  const int done = monitor_call("ndl_available_devices", [&]() -> Status {
    if (device_indexes == nullptr) return null_pointer();
    MILLRACE_ASSIGN_OR_RETURN(const uint32_t cores, watched_cores());
    stored = std::clamp(device_indexes_size, 0, static_cast<int>(devices_of(cores)));
    for (int i = 0; i < stored; ++i) device_indexes[i] = i;
    return {};
  });
  return done == kDone ? stored : 0;
}

int ndl_open_device(int device_index, ndl_device_init_param_t*, ndl_device_t** device) {
  return monitor_call("ndl_open_device", [&] { return open_device(device_index, device); });
}

int ndl_close_device(ndl_device_t* device) {
  return monitor_call("ndl_close_device", [&]() -> Status {
    if (device == nullptr) return null_pointer();
    std::free(device);
    return {};
  });
}

int ndl_get_all_apps_info(ndl_device_t* device, struct neuron_app_info** info, size_t* count,
                          uint16_t apps_info_flags) {
  return monitor_call("ndl_get_all_apps_info",
                      [&] { return find_apps(device, info, count, apps_info_flags); });
}

int ndl_get_board_info(uint32_t* architecture, uint32_t* revision) {
  return monitor_call("ndl_get_board_info", [&]() -> Status {
    if (architecture == nullptr || revision == nullptr) return null_pointer();
    *architecture = *revision = 0;
    return {};
  });
}

int ndl_get_host_device_id(ndl_device_t* device, uint32_t* host_device_id) {
  return monitor_call("ndl_get_host_device_id", [&]() -> Status {
    if (device == nullptr || host_device_id == nullptr) return null_pointer();
    *host_device_id = device->device_index;
    return {};
  });
}

int ndl_get_device_bdf(int, uint32_t*, uint8_t*, uint8_t*) {
  return decline_monitor_call("ndl_get_device_bdf", "the software NPU has no PCI address");
}
int ndl_get_device_bdf_ext(int, uint32_t*, uint32_t*, uint8_t*, uint8_t*) {
  return decline_monitor_call("ndl_get_device_bdf_ext", "the software NPU has no PCI address");
}

}  // extern "C"
