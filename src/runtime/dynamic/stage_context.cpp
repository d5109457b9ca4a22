#include "runtime/dynamic/stage_context.h"

#include <algorithm>
#include <utility>

namespace millrace::runtime {

using device::Direction;

Result<std::unique_ptr<StageContext>> StageContext::create(std::shared_ptr<const Plan> plan) {
  std::unique_ptr<StageContext> made(new StageContext(std::move(plan)));
  MILLRACE_RETURN_IF_ERROR(made->prepare());
  return made;
}

Status StageContext::prepare() {
  const device::Program& program = *plan_->program;
  const auto plan_side = [&](Direction direction, size_t count, std::vector<Slot>& side) -> Status {
    for (size_t i = 0; i < count; ++i) {
      MILLRACE_ASSIGN_OR_RETURN(Boundary boundary, Boundary::plan(program, direction, i));
      side.push_back({std::move(boundary)});
    }
    return {};
  };
  const graph::CompiledModel& model = program.model();
  MILLRACE_RETURN_IF_ERROR(plan_side(Direction::kInput, model.inputs.size(), inputs_));
  MILLRACE_RETURN_IF_ERROR(plan_side(Direction::kOutput, model.outputs.size(), outputs_));
  input_bindings_.resize(inputs_.size());
  output_bindings_.resize(outputs_.size());
  MILLRACE_ASSIGN_OR_RETURN(context_, program.create_context());
  return {};
}

Status StageContext::run(std::span<const RunValue> inputs, std::span<const RunValue> outputs,
                         queue::RunControl& control) {
  const auto bound = [](const RunValue& value) {
    TensorBinding binding;
    binding.data = value.data;
    binding.view = device::View::kCpu;
    return binding;
  };
  BoundaryConversions conversions;  // not reported: conversions between stages are internal
  for (size_t i = 0; i < inputs.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(inputs_[i].boundary.stage_input(bound(inputs[i]), inputs_[i].staging,
                                                             conversions, input_bindings_[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    MILLRACE_RETURN_IF_ERROR(outputs_[i].boundary.stage_output(
        bound(outputs[i]), outputs_[i].staging, output_bindings_[i]));
  MILLRACE_RETURN_IF_ERROR(context_->run(input_bindings_, output_bindings_, control));
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs_[i].boundary.finish_output(bound(outputs[i]), outputs_[i].staging, conversions);
  return {};
}

Result<StageContext*> StageContexts::of(const std::shared_ptr<const Plan>& plan) {
  const auto found = std::ranges::find_if(
      contexts_, [&](const auto& context) { return &context->plan() == plan.get(); });
  if (found != contexts_.end()) {
    contexts_.splice(contexts_.begin(), contexts_, found);
    return contexts_.front().get();
  }
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<StageContext> made, StageContext::create(plan));
  contexts_.push_front(std::move(made));
  if (contexts_.size() > capacity_) contexts_.pop_back();
  return contexts_.front().get();
}

}  // namespace millrace::runtime
