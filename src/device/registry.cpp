// The process's devices are in a table of weak pointers, so a device ends with its last user.
// Plugins stay loaded.
#include "device/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/log.h"
#include "base/process/forked_child.h"
#include "base/process/plugin.h"
#include "base/process/stack.h"
#include "base/settings/environment.h"
#include "base/settings/guarded_variables.h"
#include "check/check_program.h"
#include "device/faulty/faulty_device.h"
#include "device/null/null_device.h"
#include "device/paced/paced_device.h"
#include "record/record_program.h"
#include "timeline/trace_file.h"

namespace millrace::device {
namespace {

constexpr const char* kPluginSymbol = "millrace_device_plugin";

// One lock for lookup and creation, so that two threads that open a device at the same time get the
// same one. Only devices that wrap another one open it while they are created, under the same lock.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Device>> devices;
  std::map<std::string, const PluginEntry*> plugins;  // loaded once, never unloaded
};

Registry& registry() {
  // Never destroyed: a device may be opened while the process exits.
  static Registry* made = new Registry;
  return *made;
}

bool is_device_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Status why_no_plugin(const std::string& name, const Status& status) {
  if (status.code() == StatusCode::kNotFound)
    return status.with_context(fmt::format("no device \"{}\"", name));
  return {status.code(), fmt::format("the plugin of device \"{}\" {}", name, status.message())};
}

Result<const PluginEntry*> load_plugin(const std::string& name) {
  const std::filesystem::path path = plugin_path(name);
  const Result<void*> found = plugin_function(path, kPluginSymbol);
  if (!found.ok()) return why_no_plugin(name, found.status());
  const PluginEntry* entry = reinterpret_cast<PluginFunction>(*found)();
  if (entry == nullptr)
    return unsupported(fmt::format("{} is not a device plugin: its {} returns null", path.string(),
                                   kPluginSymbol));
  if (entry->version != kPluginVersion)
    return unsupported(fmt::format("{} was built for plugin version {}, libmillrace needs {}",
                                   path.string(), entry->version, kPluginVersion));
  return entry;
}

Result<std::shared_ptr<Device>> open_locked(Registry& state, const std::string& name,
                                            const DeviceOptions& options);

// The profile says how many lanes its device has, unless the program or the user does.
Result<std::shared_ptr<Device>> create_paced(Registry& state, const std::string& inner_name,
                                             DeviceOptions options) {
  if (inner_name.starts_with(kPacedPrefix) || inner_name.starts_with(kFaultyDeviceName))
    return invalid_argument(fmt::format(
        "a paced device cannot wrap \"{}\"; the device that injects faults is the outer "
        "one, as in faulty-paced-cpu",
        inner_name));
  MILLRACE_ASSIGN_OR_RETURN(PaceProfile profile, pace_of_environment());
  if (options.lanes == 0) options.lanes = profile.lanes;
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Device> inner, open_locked(state, inner_name, options));
  return std::shared_ptr<Device>(
      std::make_shared<PacedDevice>(std::move(inner), std::move(profile)));
}

Result<std::shared_ptr<Device>> create_device(Registry& state, const std::string& name,
                                              const DeviceOptions& options) {
  if (name == kNullDeviceName) return create_null_device(options);
  if (name.starts_with(kFaultyPrefix)) {
    const std::string inner_name = name.substr(std::string_view(kFaultyPrefix).size());
    MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Device> inner,
                              open_locked(state, inner_name, options));
    return create_faulty_device(std::move(inner));
  }
  if (name.starts_with(kPacedPrefix))
    return create_paced(state, name.substr(std::string_view(kPacedPrefix).size()), options);
  const PluginEntry*& entry = state.plugins[name];
  if (entry == nullptr) {
    MILLRACE_ASSIGN_OR_RETURN(entry, load_plugin(name));
  }
  return entry->create(options);
}

// A device of a process whose timeline is written when the last device has closed.
struct TracedDevice {
  timeline::OpenDevice open;  // ends after the device
  std::shared_ptr<Device> device;
};

std::shared_ptr<Device> traced(std::shared_ptr<Device> device) {
  const auto made = std::make_shared<TracedDevice>();
  made->device = std::move(device);
  return {made, made->device.get()};
}

Result<std::shared_ptr<Device>> open_locked(Registry& state, const std::string& name,
                                            const DeviceOptions& options) {
  if (name == kFaultyDeviceName)
    return open_locked(state, std::string(kFaultyPrefix) + kNullDeviceName, options);
  if (std::shared_ptr<Device> device = state.devices[name].lock()) return device;
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, create_device(state, name, options));
  if (timeline::is_traced()) device = traced(std::move(device));
  state.devices[name] = device;
  return device;
}

// Returns the number of lanes of a device: the requested one, or else the value of MILLRACE_LANES;
// 0, which means the core budget, if neither is set.
Result<uint32_t> lanes_in_force(uint32_t asked) {
  constexpr uint64_t kMost = 1024;
  if (asked != 0) return asked;
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t lanes, number_variable("MILLRACE_LANES", 0, 1, kMost));
  return static_cast<uint32_t>(lanes);
}

bool is_set(const char* variable) {
  return !environment_variable(variable).empty();
}

// Faults come first, so that a job which fails does not take the time of the profile.
std::string name_for_program(const std::optional<std::string>& name) {
  const std::string_view device = environment_variable("MILLRACE_DEVICE");
  std::string wanted = name.value_or(std::string(device.empty() ? "cpu" : device));
  if (wanted.starts_with(kFaultyDeviceName)) return wanted;
  if (is_set(kPaceVariable) && !wanted.starts_with(kPacedPrefix)) wanted.insert(0, kPacedPrefix);
  if (is_set(kFaultsVariable) || is_set(kTransferFaultsVariable)) wanted.insert(0, kFaultyPrefix);
  return wanted;
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const std::string& name, DeviceOptions options) {
  if (!is_device_name(name))
    return invalid_argument(fmt::format(
        "\"{}\" is not a device name: only lower-case letters, digits, '-' and '_' are allowed",
        name));
  if (is_forked_child()) return forked_status();
  MILLRACE_ASSIGN_OR_RETURN(options.lanes, lanes_in_force(options.lanes));
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;  // also for code that a plugin runs when it is loaded
  return with_stack([&] {
    Registry& state = registry();
    const std::lock_guard lock(state.mutex);
    return open_locked(state, name, options);
  });
}

Result<std::shared_ptr<Device>> open_device_of_program(const std::optional<std::string>& name,
                                                       DeviceOptions options) {
  if (const std::string warning = warning_of_ignored_variables(); !warning.empty())
    log(LogLevel::kWarning, "settings", warning);
  timeline::trace_program();
  check::check_program();
  record::record_program();
  return open_device(name_for_program(name), options);
}

std::shared_ptr<Device> find_device_of_program() {
  if (is_forked_child()) return nullptr;
  const std::string name = name_for_program(std::nullopt);
  const CancellationOff whole;
  Registry& state = registry();
  const std::lock_guard lock(state.mutex);
  const auto found = state.devices.find(name);
  return found == state.devices.end() ? nullptr : found->second.lock();
}

}  // namespace millrace::device
