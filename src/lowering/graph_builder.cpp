// Constants are folded by evaluate() for operators of the graph, and by the kernel of src/fallback
// for fallback operators. An operator stays a node if folding it would exceed the work that is left
// of the budget, or if evaluate() does not offer it.
#include "lowering/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "fallback/evaluate.h"
#include "fallback/operator_table.h"
#include "graph/collective.h"
#include "graph/shape.h"
#include "lowering/evaluate/evaluate.h"
#include "lowering/evaluate/evaluate_fallback.h"
#include "lowering/linear_quantisation.h"

namespace millrace::lowering {
namespace {

// The members of all sequences of one graph. Each costs a value or a node, so this bounds what a
// small file can make the lowering allocate.
constexpr size_t kMostMembersOfAll = size_t{1} << 20;

bool all_constant(std::span<const graph::Value* const> operands) {
  return std::ranges::all_of(
      operands, [](const graph::Value* value) { return value == nullptr || value->constant; });
}

std::string output_name(const std::string& name, size_t index) {
  return index == 0 ? name : fmt::format("{}/{}", name, index);
}

}  // namespace

GraphBuilder::GraphBuilder(size_t model_bytes, bool as_written)
    : as_written_(as_written), budget_(model_bytes) {}

graph::ValueId GraphBuilder::add(graph::Value value, std::optional<size_t> maker) {
  makers_.push_back(maker);
  return graph_.add_value(std::move(value));
}

graph::ValueId GraphBuilder::add_input(std::string name, tensor::DataType type, graph::Dims shape) {
  const graph::ValueId id =
      add({std::move(name), type, std::move(shape), std::nullopt}, std::nullopt);
  graph_.inputs.push_back(id);
  return id;
}

graph::ValueId GraphBuilder::add_constant(graph::Value constant) {
  return add(std::move(constant), std::nullopt);
}

Result<graph::ValueId> GraphBuilder::add_sequence(std::string name,
                                                  std::vector<graph::ValueId> members) {
  if (std::ranges::any_of(members, [this](auto id) { return sequence_of(id) != nullptr; }))
    return unsupported("a sequence of sequences is not supported");
  MILLRACE_RETURN_IF_ERROR(take_members(members.size()));
  const graph::ValueId id =
      add_constant({std::move(name), tensor::DataType::kUint8, {0}, graph::Constant{{}, nullptr}});
  sequences_.emplace(id, std::move(members));
  return id;
}

Status GraphBuilder::take_members(size_t count) {
  if (count > kMostMembersOfAll - members_)
    return unsupported(
        fmt::format("its sequences have more than {} members altogether", kMostMembersOfAll));
  members_ += count;
  return {};
}

const std::vector<graph::ValueId>* GraphBuilder::sequence_of(graph::ValueId id) const {
  const auto sequence = sequences_.find(id);
  return sequence != sequences_.end() ? &sequence->second : nullptr;
}

Status GraphBuilder::check_computed(size_t bytes) const {
  if (budget_.has_bytes(bytes)) return {};
  return unsupported(
      fmt::format("the constants it computes need more than {} bytes", budget_.limit_bytes()));
}

Result<graph::ValueId> GraphBuilder::add_computed(graph::Value constant) {
  MILLRACE_RETURN_IF_ERROR(check_computed(constant.bytes()));
  budget_.take_bytes(constant.bytes());
  return add_constant(std::move(constant));
}

std::vector<const graph::Value*> GraphBuilder::operands(
    const std::vector<graph::ValueId>& ids) const {
  std::vector<const graph::Value*> values;
  for (const graph::ValueId id : ids) {
    values.push_back(id == graph::kNoValue ? nullptr : &graph_.values[id]);
  }
  return values;
}

Result<graph::ValueId> GraphBuilder::fold(const std::string& name, const graph::Operator& op,
                                          std::span<const graph::Value* const> operands) {
  MILLRACE_ASSIGN_OR_RETURN(const graph::ValueType type, graph::infer_output(op, operands));
  const graph::Value output{name, type.type, type.shape, std::nullopt};
  MILLRACE_RETURN_IF_ERROR(check_computed(output.bytes()));
  if (!budget_.take_work(evaluation_work(op, operands, {&type, 1}))) return graph::kNoValue;
  Result<graph::Value> folded = evaluate(op, operands);
  if (!folded.ok()) {
    if (folded.status().code() == StatusCode::kUnsupported) return graph::kNoValue;
    return folded.status();
  }
  folded->name = name;
  return add_computed(*std::move(folded));
}

Result<graph::ValueId> GraphBuilder::emit(std::string name, graph::Operator op,
                                          std::vector<graph::ValueId> inputs) {
  const auto values = operands(inputs);
  if (all_constant(values)) {
    MILLRACE_ASSIGN_OR_RETURN(const graph::ValueId folded, fold(name, op, values));
    if (folded != graph::kNoValue) return folded;
  }
  return add_node(std::move(name), std::move(op), std::move(inputs));
}

Result<graph::ValueId> GraphBuilder::add_node(std::string name, graph::Operator op,
                                              std::vector<graph::ValueId> inputs) {
  MILLRACE_ASSIGN_OR_RETURN(graph::ValueType type, graph::infer_output(op, operands(inputs)));
  const graph::ValueId id =
      add({name, type.type, std::move(type.shape), std::nullopt}, graph_.nodes.size());
  graph_.nodes.push_back({std::move(name), std::move(op), std::move(inputs), {id}});
  return id;
}

Result<std::vector<graph::ValueId>> GraphBuilder::compute_fallback(
    const std::string& name, const graph::Fallback& op,
    std::span<const fallback::TensorView> inputs, std::span<const graph::ValueType> types) {
  for (const graph::ValueType& type : types) {
    MILLRACE_RETURN_IF_ERROR(
        check_computed(fallback::element_count(type.shape) * tensor::size_of(type.type)));
  }
  MILLRACE_ASSIGN_OR_RETURN(std::vector<graph::Value> results,
                            evaluate_fallback(op, inputs, types));
  std::vector<graph::ValueId> ids;
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].name = output_name(name, i);
    MILLRACE_ASSIGN_OR_RETURN(ids.emplace_back(), add_computed(std::move(results[i])));
  }
  return ids;
}

// The shape function of an operator whose result shape follows from elements (NonZero, Unique) does
// the work of the kernel, so that work is taken from the budget before the shape is inferred.
Status GraphBuilder::check_inference(const graph::Fallback& op,
                                     std::span<const graph::Value* const> operands) {
  const fallback::OperatorSpec* spec = fallback::find_operator(op.name);
  if (spec == nullptr || !spec->shape_follows_elements || !all_constant(operands) ||
      budget_.take_work(evaluation_work(op, operands, {})))
    return {};
  return unsupported(
      "its operands are constants, and computing it exceeds the budget for constant folding");
}

Result<std::vector<graph::ValueId>> GraphBuilder::emit_fallback(
    const std::string& name, graph::Fallback op, std::vector<graph::ValueId> inputs, size_t outputs,
    std::vector<graph::ValueId>* asked) {
  const auto values = operands(inputs);
  const auto views = views_of(values);
  MILLRACE_RETURN_IF_ERROR(check_inference(op, values));
  std::vector<size_t> asked_operands;
  Result<std::vector<graph::ValueType>> inferred =
      fallback::infer_outputs(op, views, outputs, &asked_operands);
  for (const size_t index : asked_operands) asked->push_back(inputs[index]);
  MILLRACE_ASSIGN_OR_RETURN(auto types, std::move(inferred));
  const bool stays_quantised = !as_written_ && dequantises_constant(op, values);
  const bool is_known = !stays_quantised && !graph::collective_of(op);
  if (!inputs.empty() && all_constant(values) && is_known &&
      budget_.take_work(evaluation_work(op, values, types)))
    return compute_fallback(name, op, views, types);
  graph::Node node{name, std::move(op), std::move(inputs), {}};
  for (size_t i = 0; i < types.size(); ++i) {
    node.outputs.push_back(
        add({output_name(name, i), types[i].type, std::move(types[i].shape), std::nullopt},
            graph_.nodes.size()));
  }
  graph_.nodes.push_back(node);
  return node.outputs;
}

Result<graph::ValueId> GraphBuilder::computed_if_constant(graph::ValueId id) {
  if (!makers_[id]) return id;
  const graph::Node node = graph_.nodes[*makers_[id]];
  const auto* op = std::get_if<graph::Fallback>(&node.op);
  const auto values = operands(node.inputs);
  if (op == nullptr || !all_constant(values) || !dequantises_constant(*op, values)) return id;
  const graph::ValueType type{graph_.values[id].type, graph_.values[id].shape};
  if (!budget_.take_work(evaluation_work(node.op, values, {&type, 1}))) return id;
  MILLRACE_ASSIGN_OR_RETURN(const auto computed,
                            compute_fallback(node.name, *op, views_of(values), {&type, 1}));
  return computed[0];
}

}  // namespace millrace::lowering
