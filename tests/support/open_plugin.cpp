// The plugin of the device "open", whose programs have open tensors, whatever model it loads. The
// first input of the model becomes FLOAT32 [?,3]. The first output, of any rank, gets the elements
// above 0, doubled, as [count]: its dimensions follow from elements. A second output, if there is
// one, stays as it is and gets the first element.
//
// An element of -1 makes a job fail before its dimensions are known; one of -2 makes it wait until
// it is asked to stop.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "device/cpu/capabilities/capabilities.h"
#include "device/registry.h"
#include "tensor/tensor_shape.h"

namespace millrace::test {
namespace {

using tensor::DataType;

graph::CompiledModel opened(graph::CompiledModel model) {
  const auto open = [](graph::Boundary& boundary, std::vector<uint32_t> shape) {
    boundary.cpu = tensor::make_cpu_desc(boundary.cpu.name, DataType::kFloat32, std::move(shape));
    boundary.hw.reset();
    boundary.open = true;
  };
  open(model.inputs[0], {kOpenDimension, 3});
  open(model.outputs[0], {});
  for (graph::Boundary& output : model.outputs) output.hw.reset();
  return model;
}

class OpenContext final : public device::Context {
 public:
  Status run(std::span<const device::Binding> inputs, std::span<const device::Binding> outputs,
             queue::RunControl& control) noexcept override {
    const std::span elements(static_cast<const float*>(inputs[0].data),
                             tensor::elements_of(*inputs[0].shape));
    if (std::ranges::count(elements, -1.0f) > 0) return invalid_argument("an element of -1");
    while (std::ranges::count(elements, -2.0f) > 0) {
      if (control.stop_requested()) return control.stop_status();
      std::this_thread::yield();
    }
    const auto above = [](float element) { return element > 0; };
    const auto count = static_cast<uint32_t>(std::ranges::count_if(elements, above));
    const device::Binding& output = outputs[0];
    *output.shape = {.rank = 1, .dims = {count}};
    const size_t bytes = count * sizeof(float);
    if (bytes > output.bytes)
      return invalid_argument(
          fmt::format("output \"probs\" takes {} bytes, the memory has {}", bytes, output.bytes));
    auto* to = static_cast<float*>(output.data);
    for (const float element : elements)
      if (above(element)) *to++ = 2 * element;
    if (outputs.size() > 1) *static_cast<float*>(outputs[1].data) = elements[0];
    return {};
  }
};

class OpenProgram final : public device::Program {
 public:
  explicit OpenProgram(graph::CompiledModel model) : model_(std::move(model)) {}

  const graph::CompiledModel& model() const noexcept override { return model_; }
  bool accepts(device::Direction, size_t, View view) const noexcept override {
    return view == View::kCpu;
  }
  Result<std::unique_ptr<device::Context>> create_context() const override {
    return std::unique_ptr<device::Context>(std::make_unique<OpenContext>());
  }
  device::ProgramInfo info() const override {
    return {.device = "open", .precision = model_.precision, .note = {}, .steps = {}};
  }

 private:
  const graph::CompiledModel model_;
};

class OpenDevice final : public device::Device {
 public:
  OpenDevice() : lanes_({.count = 2}) {}

  std::string name() const override { return "open"; }
  graph::Capabilities capabilities() const noexcept override { return device::cpu::capabilities(); }
  Result<std::shared_ptr<const device::Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override {
    return std::shared_ptr<const device::Program>(std::make_shared<OpenProgram>(opened(*model)));
  }
  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  queue::Lanes lanes_;
};

}  // namespace
}  // namespace millrace::test

extern "C" const millrace::device::PluginEntry* millrace_device_plugin() {
  static constexpr millrace::device::PluginEntry kEntry = {
      millrace::device::kPluginVersion,
      [](const millrace::device::DeviceOptions&)
          -> millrace::Result<std::shared_ptr<millrace::device::Device>> {
        return std::shared_ptr<millrace::device::Device>(
            std::make_shared<millrace::test::OpenDevice>());
      }};
  return &kEntry;
}
