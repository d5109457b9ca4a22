// Program and context of the inner device are wrapped, so that each frame passes the fault plan. An
// observer of the frame's progress reports the partitions, for the gate inside a model.
#include "device/faulty/faulty_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/settings/environment.h"
#include "memory/fault_gates.h"
#include "tensor/data_type.h"

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

// Fills an output with NaN; false if its elements are not of floating point.
bool fill_with_nan(const graph::Boundary& output, const Binding& binding) noexcept {
  const tensor::TensorDesc& view = binding.view == View::kHw && output.hw ? *output.hw : output.cpu;
  if (!tensor::is_floating(view.type)) return false;
  size_t elements = binding.shape == nullptr ? view.elements() : 1;
  if (binding.shape != nullptr)
    for (uint32_t i = 0; i < binding.shape->rank; ++i) elements *= binding.shape->dims[i];
  // A NaN of any of these types has all bits of the exponent, and these patterns have all bits.
  std::memset(binding.data, 0xff, elements * size_of(view.type));
  return true;
}

// Whether the rule could fill an output of this model with NaN.
bool finds_output(const FaultRule& rule, const graph::CompiledModel& model) {
  return std::ranges::any_of(model.outputs, [&](const graph::Boundary& output) {
    const bool is_named = rule.output.empty() || rule.output == output.cpu.name;
    return is_named && tensor::is_floating(output.cpu.type);
  });
}

// A rule that cannot do anything to a model that it selects is probably a mistake.
void warn_of_missing_outputs(const graph::CompiledModel& model, const FaultPlan& faults) {
  for (const FaultRule& rule : faults.rules()) {
    const bool is_selected = rule.model.empty() || rule.model == model.name;
    if (rule.action != FaultAction::kNan || !is_selected || finds_output(rule, model)) continue;
    log_format(LogLevel::kWarning, "faults",
               "\"{}\": model \"{}\" has no {} of floating point, so its jobs stay as they are",
               rule.text, model.name,
               rule.output.empty() ? "output" : fmt::format("output \"{}\"", rule.output));
  }
}

class FaultyContext final : public Context {
 public:
  FaultyContext(std::unique_ptr<Context> inner, std::shared_ptr<const Program> program,
                std::shared_ptr<FaultPlan> faults)
      : inner_(std::move(inner)), program_(std::move(program)), faults_(std::move(faults)) {}

  Status run(std::span<const Binding> inputs, std::span<const Binding> outputs,
             queue::RunControl& control) noexcept override {
    SpoiltOutputs spoilt;
    Status status = faults_->enter(control, program_->model().name, &spoilt);
    if (status.ok()) {
      PartitionWatch watch(*faults_);
      const queue::ObserverScope observed(control, watch);
      status = inner_->run(inputs, outputs, control);
    }
    if (status.ok() && spoilt.any()) [[unlikely]]
      spoil(outputs, spoilt, control);
    faults_->leave();
    return status;
  }

 private:
  void spoil(std::span<const Binding> outputs, const SpoiltOutputs& spoilt,
             const queue::RunControl& control) noexcept {
    bool any = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const graph::Boundary& output = program_->model().outputs[i];
      if (spoilt.has(output.cpu.name)) any |= fill_with_nan(output, outputs[i]);
    }
    if (any) faults_->note_spoilt(control);
  }

  const std::unique_ptr<Context> inner_;
  const std::shared_ptr<const Program> program_;
  const std::shared_ptr<FaultPlan> faults_;
};

class FaultyProgram final : public Program {
 public:
  FaultyProgram(std::shared_ptr<const Program> inner, std::shared_ptr<FaultPlan> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {
    warn_of_missing_outputs(model(), *faults_);
  }

  const graph::CompiledModel& model() const noexcept override { return inner_->model(); }

  bool accepts(Direction direction, size_t index, View view) const noexcept override {
    return inner_->accepts(direction, index, view);
  }

  Result<std::unique_ptr<Context>> create_context() const override {
    MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Context> inner, inner_->create_context());
    return std::unique_ptr<Context>(
        std::make_unique<FaultyContext>(std::move(inner), inner_, faults_));
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

// Let the plan refuse allocations and uses of descriptors of the program, as long as its device
// exists.
void guard_allocations(const std::shared_ptr<FaultPlan>& plan) {
  memory::set_allocation_gate([weak = std::weak_ptr(plan)]() -> Status {
    const std::shared_ptr<FaultPlan> alive = weak.lock();
    return alive == nullptr ? Status() : alive->admit_allocation();
  });
}
void guard_descriptors(const std::shared_ptr<FaultPlan>& plan) {
  memory::set_descriptor_gate([weak = std::weak_ptr(plan)]() -> Status {
    const std::shared_ptr<FaultPlan> alive = weak.lock();
    return alive == nullptr ? Status() : alive->admit_descriptor();
  });
}

Status apply_variable(const char* name, Work work, const std::shared_ptr<FaultPlan>& plan) {
  const std::string_view text = environment_variable(name);
  if (text.empty()) return {};
  const Result<FaultSettings> settings = FaultPlan::parse(text, work);
  if (!settings.ok()) return settings.status().with_context(name);
  plan->heal();
  plan->apply(*settings);
  if (std::ranges::count(settings->rules, FaultSubject::kAllocations, &FaultRule::subject) != 0)
    guard_allocations(plan);
  if (std::ranges::count(settings->rules, FaultSubject::kDescriptors, &FaultRule::subject) != 0)
    guard_descriptors(plan);
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
    MILLRACE_RETURN_IF_ERROR(apply_variable(kFaultsVariable, Work::kJob, plan));
  if (const std::shared_ptr<FaultPlan> plan = transfer_faults_of(device))
    MILLRACE_RETURN_IF_ERROR(apply_variable(kTransferFaultsVariable, Work::kTransfer, plan));
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
