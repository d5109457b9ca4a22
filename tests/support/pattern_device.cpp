#include "tests/support/pattern_device.h"

#include <atomic>

namespace millrace::test {
namespace {

class PatternContext final : public device::Context {
 public:
  explicit PatternContext(std::shared_ptr<const graph::CompiledModel> model)
      : model_(std::move(model)) {}

  Status run(std::span<const device::Binding> inputs, std::span<const device::Binding> outputs,
             queue::RunControl& control) noexcept override {
    const auto pattern = static_cast<uint8_t>(*static_cast<const uint8_t*>(inputs[0].data) + 1);
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      if (control.stop_requested()) return control.stop_status();
      control.begin_step(i);
      const graph::Boundary& output = model_->outputs[i];
      const bool hw = outputs[i].view == device::View::kHw;
      fill(static_cast<uint8_t*>(outputs[i].data), (hw ? *output.hw : output.cpu).bytes(), pattern);
    }
    return {};
  }

 private:
  // Byte by byte, atomically: tests that only count jobs let several of them share one output.
  static void fill(uint8_t* data, size_t bytes, uint8_t pattern) {
    for (size_t i = 0; i < bytes; ++i)
      std::atomic_ref(data[i]).store(pattern, std::memory_order_relaxed);
  }

  const std::shared_ptr<const graph::CompiledModel> model_;
};

}  // namespace

bool PatternProgram::accepts(device::Direction direction, size_t index,
                             device::View view) const noexcept {
  const bool input = direction == device::Direction::kInput;
  const graph::Boundary& boundary = (input ? model_->inputs : model_->outputs)[index];
  return (view == device::View::kHw) == boundary.hw.has_value();
}

Result<std::unique_ptr<device::Context>> PatternProgram::create_context() const {
  return std::unique_ptr<device::Context>(std::make_unique<PatternContext>(model_));
}

device::ProgramInfo PatternProgram::info() const {
  device::ProgramInfo info{
      .device = "pattern", .precision = model_->precision, .note = {}, .steps = {}};
  for (const graph::Boundary& output : model_->outputs)
    info.steps.push_back({"fill", "Pattern", "test:pattern", output.cpu.name});
  return info;
}

Result<std::shared_ptr<const device::Program>> PatternDevice::load(
    std::shared_ptr<const graph::CompiledModel> model) {
  return std::shared_ptr<const device::Program>(std::make_shared<PatternProgram>(std::move(model)));
}

}  // namespace millrace::test
