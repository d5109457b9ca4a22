// Opens devices by name.
//
//   null         is built in
//   faulty-NAME  is a faulty device (faulty_device.h), which wraps the device NAME and injects the
//                faults that MILLRACE_FAULTS specifies when it is created
//   faulty       is short for faulty-null
//   other NAMEs  are plugins, libmillrace-NAME.so, in the directory of libmillrace (or the one that
//                MILLRACE_PLUGIN_DIR names), which are loaded on first use. So a program that only
//                uses the null device never loads a kernel library.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "device/device.h"

namespace millrace::device {

// Returns the process's device of that name. It is created with `options`, unless it is already in
// use (then its own options take precedence). A faulty device and the device that it wraps share
// lanes and may be open at the same time. kNotFound if there is no such plugin, kUnsupported if it
// was built for another plugin version, kInvalidArgument if the name, MILLRACE_FAULTS or
// MILLRACE_LANES is invalid; kForked.
Result<std::shared_ptr<Device>> open_device(const std::string& name, DeviceOptions options = {});

// Opens the device of a program, whichever API that uses: the device of that name or, without a
// name, the one that the environment variable MILLRACE_DEVICE names, or "cpu". If MILLRACE_FAULTS
// or MILLRACE_TRANSFER_FAULTS is set, it is the faulty device that wraps that one. Fails as
// open_device.
Result<std::shared_ptr<Device>> open_device_of_program(
    const std::optional<std::string>& name = std::nullopt, DeviceOptions options = {});

// Returns the device that open_device_of_program would return without a name, if the process has it
// open; otherwise null. It opens nothing, for work around jobs that uses the device's lanes only if
// they exist. Null in a forked child.
std::shared_ptr<Device> find_device_of_program();

// The one C entry point of a plugin, `millrace_device_plugin`.
inline constexpr uint32_t kPluginVersion = 7;
struct PluginEntry {
  uint32_t version;  // kPluginVersion of the header it was built with
  Result<std::shared_ptr<Device>> (*create)(const DeviceOptions& options);
};
using PluginFunction = const PluginEntry* (*)();

}  // namespace millrace::device
