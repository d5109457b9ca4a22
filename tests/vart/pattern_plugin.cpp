// The pattern device as a plugin, so that tests can reach it from behind a face, with faults in
// front of it: MILLRACE_DEVICE=faulty-pattern.
#include "device/registry.h"
#include "tests/support/pattern_device.h"

namespace {

millrace::Result<std::shared_ptr<millrace::device::Device>> create(
    const millrace::device::DeviceOptions& options) {
  return std::shared_ptr<millrace::device::Device>(
      std::make_shared<millrace::test::PatternDevice>(options.lanes != 0 ? options.lanes : 2));
}

}  // namespace

extern "C" const millrace::device::PluginEntry* millrace_device_plugin() {
  static constexpr millrace::device::PluginEntry entry = {millrace::device::kPluginVersion, create};
  return &entry;
}
