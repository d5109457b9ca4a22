// The gate device as a plugin, so that tests can reach it from behind a face: MILLRACE_DEVICE=gate.
#include "device/registry.h"
#include "tests/support/gate_device.h"

namespace {

std::shared_ptr<millrace::test::Gate>& shared_gate() {
  static auto gate = std::make_shared<millrace::test::Gate>();
  return gate;
}

millrace::Result<std::shared_ptr<millrace::device::Device>> create(
    const millrace::device::DeviceOptions&) {
  return std::shared_ptr<millrace::device::Device>(
      std::make_shared<millrace::test::GateDevice>(shared_gate(), 2));
}

}  // namespace

extern "C" const millrace::device::PluginEntry* millrace_device_plugin() {
  static constexpr millrace::device::PluginEntry entry = {millrace::device::kPluginVersion, create};
  return &entry;
}

// The gate at which the jobs of the device wait, from now on a new one, closed.
extern "C" millrace::test::Gate* millrace_test_new_gate() {
  shared_gate() = std::make_shared<millrace::test::Gate>();
  return shared_gate().get();
}
