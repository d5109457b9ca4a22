// A device for tests with a trivial computation: every byte of every output is the first byte of
// the first input plus one. A program has one step per output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "device/cpu/capabilities/capabilities.h"
#include "device/device.h"
#include "tensor/desc.h"

namespace millrace::test {

// Accepts the HW view where there is one, as real devices do, so that the runtime converts for it.
class PatternProgram final : public device::Program {
 public:
  explicit PatternProgram(std::shared_ptr<const graph::CompiledModel> model)
      : model_(std::move(model)) {}

  const graph::CompiledModel& model() const noexcept override { return *model_; }
  bool accepts(device::Direction direction, size_t index,
               device::View view) const noexcept override;
  Result<std::unique_ptr<device::Context>> create_context() const override;
  device::ProgramInfo info() const override;

 private:
  const std::shared_ptr<const graph::CompiledModel> model_;
};

class PatternDevice final : public device::Device {
 public:
  explicit PatternDevice(uint32_t lanes) : lanes_({.count = lanes}) {}

  std::string name() const override { return "pattern"; }
  graph::Capabilities capabilities() const noexcept override { return device::cpu::capabilities(); }
  Result<std::shared_ptr<const device::Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override;
  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  queue::Lanes lanes_;
};

}  // namespace millrace::test
