// Finds devices by name. `null` is built in; `faulty-NAME` is a faulty device (faulty_device.h)
// over the device NAME, with the faults that MILLRACE_FAULTS asks for when it is made, and `faulty`
// is short for `faulty-null`; any other device NAME is a plugin, `libmillrace-NAME.so` beside the
// library that holds this code (or in the directory MILLRACE_PLUGIN_DIR names), loaded on first
// use: a program that stays on the null device never loads a kernel library.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "device/device.h"

namespace millrace::device {

// The process's device of that name: made with `options` if there is none yet, else the one there
// is (whose options win), as long as it is in use. A faulty device and the one behind it share
// lanes and may be open at the same time. kNotFound when there is no such plugin, kUnsupported when
// it does not fit this library, kInvalidArgument when the name, MILLRACE_FAULTS or MILLRACE_LANES
// makes no sense; kForked.
Result<std::shared_ptr<Device>> open_device(const std::string& name, DeviceOptions options = {});

// How programs open a device, whichever API they use: the device of that name, or without a name
// the one that the variable MILLRACE_DEVICE names, or "cpu". Where MILLRACE_FAULTS or
// MILLRACE_TRANSFER_FAULTS is set, it is the faulty device over that one. Fails as open_device.
Result<std::shared_ptr<Device>> open_device_of_program(
    const std::optional<std::string>& name = std::nullopt, DeviceOptions options = {});

// The device that open_device_of_program would give without a name, if the process has it open;
// else null, and nothing is opened. For work around jobs that may use the lanes of the device, but
// is no reason to start them. Null in a forked child.
std::shared_ptr<Device> find_device_of_program();

// The one C entry point of a plugin, `millrace_device_plugin`.
inline constexpr uint32_t kPluginVersion = 6;
struct PluginEntry {
  uint32_t version;  // kPluginVersion of the header it was built with
  Result<std::shared_ptr<Device>> (*create)(const DeviceOptions& options);
};
using PluginFunction = const PluginEntry* (*)();

}  // namespace millrace::device
