// Program and context of the inner device are wrapped, so that each frame passes the fault plan. An
// observer of the frame's progress reports the partitions, for the gate inside a model.
#include "device/faulty/faulty_device.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/settings/environment.h"

namespace millrace::device {
namespace {

// Tells the plan when a running frame begins a partition.
class PartitionWatch final : public queue::ProgressObserver {
 public:
  explicit PartitionWatch(FaultPlan& faults) : faults_(faults) {}

  void on_progress(const queue::RunControl& control) noexcept override {
    const uint16_t partition = control.position().partition;
    if (partition == partition_) return;
    partition_ = partition;
    faults_.enter_partition(partition, control);
  }

 private:
  FaultPlan& faults_;
  std::optional<uint16_t> partition_;  // the last one that has begun
};

class FaultyContext final : public Context {
 public:
  FaultyContext(std::unique_ptr<Context> inner, std::shared_ptr<FaultPlan> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
             queue::RunControl& control) noexcept override {
    Status status = faults_->enter(control);
    if (status.ok()) {
      PartitionWatch watch(*faults_);
      const queue::ObserverScope observed(control, watch);
      status = inner_->run(inputs, outputs, control);
    }
    faults_->leave();
    return status;
  }

 private:
  const std::unique_ptr<Context> inner_;
  const std::shared_ptr<FaultPlan> faults_;
};

class FaultyProgram final : public Program {
 public:
  FaultyProgram(std::shared_ptr<const Program> inner, std::shared_ptr<FaultPlan> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  const graph::CompiledModel& model() const noexcept override { return inner_->model(); }

  bool accepts(Direction direction, size_t index, View view) const noexcept override {
    return inner_->accepts(direction, index, view);
  }

  Result<std::unique_ptr<Context>> create_context() const override {
    MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Context> inner, inner_->create_context());
    return std::unique_ptr<Context>(std::make_unique<FaultyContext>(std::move(inner), faults_));
  }

  ProgramInfo info() const override {
    ProgramInfo info = inner_->info();
    info.device.insert(0, kFaultyPrefix);
    return info;
  }
  bool is_of_rank() const noexcept override { return inner_->is_of_rank(); }
  void skip_job() const noexcept override { inner_->skip_job(); }

 private:
  const std::shared_ptr<const Program> inner_;
  const std::shared_ptr<FaultPlan> faults_;
};

Status apply_variable(const char* name, FaultPlan& plan) {
  const std::string_view text = environment_variable(name);
  if (text.empty()) return {};
  const Result<FaultSettings> settings = FaultPlan::parse(text);
  if (!settings.ok()) return settings.status().with_context(name);
  plan.heal();
  plan.apply(*settings);
  return {};
}

}  // namespace

FaultyDevice::FaultyDevice(std::shared_ptr<Device> inner, std::shared_ptr<FaultPlan> faults)
    : inner_(std::move(inner)), faults_(std::move(faults)) {}

Result<std::shared_ptr<const Program>> FaultyDevice::load(
    std::shared_ptr<const graph::CompiledModel> model) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> inner, inner_->load(std::move(model)));
  return std::shared_ptr<const Program>(std::make_shared<FaultyProgram>(std::move(inner), faults_));
}

Result<std::shared_ptr<const Program>> FaultyDevice::load_for_rank(
    std::shared_ptr<const graph::CompiledModel> model,
    std::shared_ptr<ranks::Communicator> communicator) {
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const Program> inner,
                            inner_->load_for_rank(std::move(model), std::move(communicator)));
  return std::shared_ptr<const Program>(std::make_shared<FaultyProgram>(std::move(inner), faults_));
}

Status FaultyDevice::transfer(void* to, const void* from, size_t bytes,
                              queue::RunControl& control) noexcept {
  Status status = transfer_faults_->enter(control);
  if (status.ok()) status = inner_->transfer(to, from, bytes, control);
  transfer_faults_->leave();
  return status;
}

std::shared_ptr<FaultPlan> faults_of(Device& device) {
  const auto* const faulty = dynamic_cast<const FaultyDevice*>(&device);
  return faulty == nullptr ? nullptr : faulty->faults();
}

std::shared_ptr<FaultPlan> transfer_faults_of(Device& device) {
  const auto* const faulty = dynamic_cast<const FaultyDevice*>(&device);
  return faulty == nullptr ? nullptr : faulty->transfer_faults();
}

Status apply_faults_of_environment(Device& device) {
  if (const std::shared_ptr<FaultPlan> plan = faults_of(device))
    MILLRACE_RETURN_IF_ERROR(apply_variable(kFaultsVariable, *plan));
  if (const std::shared_ptr<FaultPlan> plan = transfer_faults_of(device))
    MILLRACE_RETURN_IF_ERROR(apply_variable(kTransferFaultsVariable, *plan));
  return {};
}

Result<std::shared_ptr<Device>> create_faulty_device(std::shared_ptr<Device> inner) {
  if (faults_of(*inner) != nullptr)
    return invalid_argument("a faulty device cannot wrap another faulty device");
  auto device = std::make_shared<FaultyDevice>(std::move(inner));
  MILLRACE_RETURN_IF_ERROR(apply_faults_of_environment(*device));
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace millrace::device
