// A device that records on which memory a job works: in its first output it leaves the addresses of
// its first input and of that output. It takes HW views, as the pattern device does.
#include <cstring>

#include "device/registry.h"
#include "tests/support/pattern_device.h"

namespace millrace::test {
namespace {

class WitnessContext final : public device::Context {
 public:
  Status run(std::span<const device::Binding> inputs, std::span<const device::Binding> outputs,
             queue::RunControl& control) noexcept override {
    control.begin_step(0);
    const void* const addresses[] = {inputs[0].data, outputs[0].data};
    std::memcpy(outputs[0].data, addresses, sizeof(addresses));
    return {};
  }
};

class WitnessProgram final : public device::Program {
 public:
  explicit WitnessProgram(std::shared_ptr<const graph::CompiledModel> model)
      : pattern_(std::move(model)) {}

  const graph::CompiledModel& model() const noexcept override { return pattern_.model(); }
  bool accepts(device::Direction direction, size_t index,
               device::View view) const noexcept override {
    return pattern_.accepts(direction, index, view);
  }
  Result<std::unique_ptr<device::Context>> create_context() const override {
    return std::unique_ptr<device::Context>(std::make_unique<WitnessContext>());
  }
  device::ProgramInfo info() const override { return pattern_.info(); }

 private:
  const PatternProgram pattern_;
};

class WitnessDevice final : public device::Device {
 public:
  std::string name() const override { return "witness"; }
  graph::Capabilities capabilities() const noexcept override { return device::cpu::capabilities(); }
  Result<std::shared_ptr<const device::Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override {
    return std::shared_ptr<const device::Program>(
        std::make_shared<WitnessProgram>(std::move(model)));
  }
  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  queue::Lanes lanes_{{.count = 1}};
};

Result<std::shared_ptr<device::Device>> create(const device::DeviceOptions&) {
  return std::shared_ptr<device::Device>(std::make_shared<WitnessDevice>());
}

}  // namespace
}  // namespace millrace::test

extern "C" const millrace::device::PluginEntry* millrace_device_plugin() {
  static constexpr millrace::device::PluginEntry entry = {millrace::device::kPluginVersion,
                                                          millrace::test::create};
  return &entry;
}
