// The main loop is run(): it gets the next plan, runs its stage, and continues until no node is
// left. Values are looked up by name, first in this network and then in the enclosing ones.
#include "runtime/dynamic/network_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fallback/evaluate.h"
#include "lowering/loops/loops.h"
#include "lowering/node_facts.h"

namespace millrace::runtime {

using lowering::Known;

int NetworkRun::opset() const {
  const auto found = network_.opsets.find("");
  return found == network_.opsets.end() ? 0 : found->second;
}

// Returns a value of this network; null if there is none. An initializer becomes a value on first
// use.
const RunValue* NetworkRun::find(const std::string& name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return &known->second;
  const auto initializer = std::ranges::find(network_.initializers, name, &graph::Value::name);
  if (initializer == network_.initializers.end()) return nullptr;
  return &values_.emplace(name, constant_value(*initializer, Lasts::kProgram)).first->second;
}

Result<RunValue> NetworkRun::value(const std::string& name) {
  if (name.empty()) return invalid_argument("a required operand is missing");
  if (const RunValue* const own = find(name)) return *own;
  if (around_ == nullptr) return internal_error(fmt::format("value '{}' is not computed", name));
  MILLRACE_ASSIGN_OR_RETURN(RunValue outer, around_->value(name));
  // A value that is fixed by a plan of the outer network may differ between runs of this network
  // with the same plan.
  if (outer.lasts == Lasts::kPlan) outer.lasts = Lasts::kRun;
  return outer;
}

Result<Known> NetworkRun::known(const std::string& name) {
  MILLRACE_ASSIGN_OR_RETURN(RunValue value, this->value(name));
  if (value.members != nullptr) return Known{name, value.type, {}, graph::Constant{}};
  return Known{name, value.type, value.shape,
               graph::Constant{{value.data, value.bytes()}, value.owner},
               value.lasts != Lasts::kRun};
}

Result<std::shared_ptr<const Plan>> NetworkRun::next_plan(
    const std::shared_ptr<const Plan>& after) {
  std::vector<Known> known_values;
  for (const std::string& name : PlanCache::names_needed(network_, after.get())) {
    MILLRACE_ASSIGN_OR_RETURN(Known value, known(name));
    known_values.push_back(std::move(value));
  }
  return lane_.plans.find_or_make(network_, after, known_values);
}

Status NetworkRun::run() {
  std::shared_ptr<const Plan> plan;
  do {
    if (control_.stop_requested()) return control_.stop_status();
    MILLRACE_ASSIGN_OR_RETURN(plan, next_plan(plan));
    MILLRACE_RETURN_IF_ERROR(run_stage(plan));
  } while (!plan->rest.empty());
  return {};
}

Status NetworkRun::run_stage(const std::shared_ptr<const Plan>& plan) {
  for (const graph::Value& constant : plan->constants)
    values_[constant.name] = constant_value(constant, Lasts::kPlan);
  if (plan->program != nullptr) MILLRACE_RETURN_IF_ERROR(run_program(plan));
  for (const size_t index : plan->alone) {
    const network::Node& node = network_.nodes[index];
    if (control_.stop_requested()) return control_.stop_status();
    control_.begin_step(static_cast<uint32_t>(index));
    if (Status status = run_alone(node); !status.ok())
      return status.with_context(lowering::describe(node));
  }
  return {};
}

Result<RunValue> NetworkRun::make_output(const std::string& name, tensor::DataType type,
                                         graph::Dims shape) {
  const auto place = places_.find(name);
  RunValue placed;
  placed.type = type;
  placed.shape = std::move(shape);
  if (place != places_.end() && placed.bytes() <= place->second.size()) {
    placed.data = place->second.data();
    return placed;
  }
  return allocate_value(type, std::move(placed.shape));
}

Status NetworkRun::run_program(const std::shared_ptr<const Plan>& plan) {
  std::vector<RunValue> inputs, outputs;
  for (const std::string& name : plan->inputs) {
    MILLRACE_ASSIGN_OR_RETURN(inputs.emplace_back(), value(name));
  }
  const graph::CompiledModel& model = plan->program->model();
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    const graph::Value& output = model.graph.values[model.outputs[i].value];
    MILLRACE_ASSIGN_OR_RETURN(outputs.emplace_back(),
                              make_output(plan->outputs[i], output.type, output.shape));
  }
  MILLRACE_ASSIGN_OR_RETURN(StageContext * context, lane_.contexts.of(plan));
  MILLRACE_RETURN_IF_ERROR(context->run(inputs, outputs, control_));
  for (size_t i = 0; i < outputs.size(); ++i) values_[plan->outputs[i]] = std::move(outputs[i]);
  return {};
}

Result<std::vector<RunValue>> NetworkRun::compute_fallback(const network::Node& node) {
  MILLRACE_ASSIGN_OR_RETURN(const graph::Fallback op, lowering::as_fallback(network_, node));
  std::vector<RunValue> operands(node.inputs.size());
  std::vector<fallback::TensorView> inputs(node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    MILLRACE_ASSIGN_OR_RETURN(operands[i], value(node.inputs[i]));
    inputs[i] = operands[i].view();
  }
  MILLRACE_ASSIGN_OR_RETURN(auto types, fallback::infer_outputs(op, inputs, node.outputs.size()));
  std::vector<RunValue> results;
  std::vector<fallback::OutputView> outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        RunValue result, make_output(node.outputs[i], types[i].type, std::move(types[i].shape)));
    results.push_back(std::move(result));
  }
  outputs.reserve(results.size());
  for (const RunValue& result : results)
    outputs.push_back({result.type, result.shape, result.data});
  MILLRACE_RETURN_IF_ERROR(fallback::run(op, inputs, outputs));
  return results;
}

Result<std::vector<RunValue>> NetworkRun::compute_alone(const network::Node& node) {
  if (lowering::is_if(node)) return compute_if(*this, node);
  if (lowering::is_loop(node)) return compute_loop(*this, node);
  if (lowering::is_scan(node)) return compute_scan(*this, node);
  if (lowering::is_on_carried_sequence(node)) return compute_on_sequence(*this, node);
  return compute_fallback(node);
}

Status NetworkRun::run_alone(const network::Node& node) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<RunValue> results, compute_alone(node));
  if (results.size() < node.outputs.size())
    return invalid_argument(fmt::format("it has {} outputs, but its subgraph has {}",
                                        node.outputs.size(), results.size()));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    // Whether a result is a constant or an input of the subgraph may depend on the iterations, so
    // it counts as valid for this run only.
    results[i].lasts = Lasts::kRun;
    values_[node.outputs[i]] = std::move(results[i]);
  }
  return {};
}

Result<std::vector<RunValue>> NetworkRun::run_subgraph(const network::Network& body,
                                                       std::span<const RunValue> inputs) {
  if (control_.stop_requested()) return control_.stop_status();
  NetworkRun inner(lane_, body, this, control_);
  for (size_t i = 0; i < inputs.size(); ++i) {
    RunValue input = inputs[i];
    input.lasts = Lasts::kRun;
    inner.set(body.inputs[i].name, std::move(input));
  }
  MILLRACE_RETURN_IF_ERROR(inner.run());
  std::vector<RunValue> outputs;
  for (const network::Output& output : body.outputs) {
    MILLRACE_ASSIGN_OR_RETURN(outputs.emplace_back(), inner.value(output.name));
  }
  return outputs;
}

}  // namespace millrace::runtime
