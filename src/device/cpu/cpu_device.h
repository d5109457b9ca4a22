// The CPU device, a software NPU: oneDNN primitives on the lanes of the process.
#pragma once

#include <memory>
#include <string>

#include "device/cpu/capabilities/capabilities.h"
#include "device/cpu/dnnl/calls.h"
#include "device/cpu/weights/packed_store.h"
#include "device/device.h"

namespace millrace::device::cpu {

class CpuDevice final : public Device {
 public:
  // May throw what guarded() catches.
  explicit CpuDevice(const DeviceOptions& options);
  // kClosed where the process is ending and oneDNN has destroyed its static objects: then no device
  // can be made, and none can load a model.
  static Status check_usable();
  std::string name() const override { return "cpu"; }
  graph::Capabilities capabilities() const noexcept override { return cpu::capabilities(); }
  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  Result<std::shared_ptr<const Program>> load_for_rank(
      std::shared_ptr<const graph::CompiledModel> model,
      std::shared_ptr<ranks::Communicator> communicator) override;
  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  const dnnl::engine engine_;
  const bool stated_precision_;
  queue::Lanes lanes_;
  PackedStore packed_;  // shared by all programs that the device loads
};

}  // namespace millrace::device::cpu
