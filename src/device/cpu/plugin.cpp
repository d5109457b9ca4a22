#include "base/log.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/dnnl/instruction_limit.h"
#include "device/cpu/reserve/reserve.h"
#include "device/registry.h"

namespace {

millrace::Result<std::shared_ptr<millrace::device::Device>> create(
    const millrace::device::DeviceOptions& options) {
  using millrace::device::Device;
  if (millrace::device::cpu::reserve::replace_calls() == 0)
    millrace::log(
        millrace::LogLevel::kWarning, "cpu",
        "the kernel libraries cannot be kept from ending the process when memory runs out");
  MILLRACE_RETURN_IF_ERROR(millrace::device::cpu::CpuDevice::check_usable());
  MILLRACE_RETURN_IF_ERROR(millrace::device::cpu::limit_instructions());
  return millrace::device::cpu::guarded([&]() -> millrace::Result<std::shared_ptr<Device>> {
    return std::shared_ptr<Device>(std::make_shared<millrace::device::cpu::CpuDevice>(options));
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const millrace::device::PluginEntry*
millrace_device_plugin() {
  millrace::device::cpu::reserve::end_initialisation();
  static constexpr millrace::device::PluginEntry kEntry{millrace::device::kPluginVersion, &create};
  return &kEntry;
}
