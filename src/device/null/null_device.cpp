#include "device/null/null_device.h"

#include <utility>

#include "base/process/topology.h"
#include "device/cpu/capabilities/capabilities.h"

namespace millrace::device {
namespace {

class NullContext final : public Context {
 public:
  explicit NullContext(size_t partitions) : partitions_(static_cast<uint32_t>(partitions)) {}

  Status run(std::span<const Binding>, std::span<const Binding>,
             queue::RunControl& control) noexcept override {
    for (uint32_t partition = 0; partition < partitions_; ++partition) {
      control.begin_partition(partition);
      if (partition > 0 && control.stop_requested()) return control.stop_status();
    }
    return {};
  }

 private:
  const uint32_t partitions_;
};

class NullProgram final : public Program {
 public:
  explicit NullProgram(std::shared_ptr<const graph::CompiledModel> model)
      : model_(std::move(model)) {}

  const graph::CompiledModel& model() const noexcept override { return *model_; }

  bool accepts(Direction, size_t, View) const noexcept override { return true; }

  Result<std::unique_ptr<Context>> create_context() const override {
    return std::unique_ptr<Context>(std::make_unique<NullContext>(model_->partitions.size()));
  }

  ProgramInfo info() const override {
    return {.device = kNullDeviceName,
            .precision = model_->precision,
            .note = "computes nothing: outputs are left as they are",
            .steps = {}};
  }

 private:
  std::shared_ptr<const graph::CompiledModel> model_;
};

class NullDevice final : public Device {
 public:
  explicit NullDevice(uint32_t lanes) : lanes_({.count = lanes}) {}

  std::string name() const override { return kNullDeviceName; }

  // It stands in for the CPU device, so a model must become the same partitions.
  graph::Capabilities capabilities() const noexcept override { return cpu::capabilities(); }

  Result<std::shared_ptr<const Program>> load(
      std::shared_ptr<const graph::CompiledModel> model) override {
    return std::shared_ptr<const Program>(std::make_shared<NullProgram>(std::move(model)));
  }

  queue::Lanes& lanes() noexcept override { return lanes_; }

 private:
  queue::Lanes lanes_;
};

}  // namespace

Result<std::shared_ptr<Device>> create_null_device(const DeviceOptions& options) {
  const uint32_t lanes =
      options.lanes != 0 ? options.lanes : static_cast<uint32_t>(topology().core_budget);
  return std::shared_ptr<Device>(std::make_shared<NullDevice>(lanes));
}

}  // namespace millrace::device
