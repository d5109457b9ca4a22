// StageLowering: the order of work, the lowering of a single node by its handler or as a fallback
// operator, and the selection of a branch of an If.
#include "lowering/stages/stage_lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "lowering/fallback_import.h"
#include "lowering/node_facts.h"
#include "lowering/operators/early_opsets.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::ValueId;

size_t constant_bytes(const network::Network& network) {
  size_t bytes = 0;
  for (const graph::Value& value : network.initializers) bytes += value.constant->bytes.size();
  return bytes;
}

}  // namespace

StageLowering::StageLowering(const StageRequest& request, bool whole)
    : request_(request),
      whole_(whole),
      builder_(constant_bytes(request.network), request.as_written),
      elements_(builder_),
      coverage_(request.network) {
  open_scope(request.network, "", nullptr);
  for (const Known& known : request.known) known_.emplace(known.name, &known);
  for (const network::Output& output : request.network.outputs)
    output_types_.emplace(output.name, output.type);
}

Result<Stage> StageLowering::run() {
  if (whole_) MILLRACE_RETURN_IF_ERROR(add_whole_inputs());
  find_consumed(request_.network);
  MILLRACE_RETURN_IF_ERROR(lower_nodes());
  report_missing_kernels();
  MILLRACE_RETURN_IF_ERROR(coverage_.status());
  Stage stage;
  const bool complete = whole_ && rest_.empty();
  MILLRACE_RETURN_IF_ERROR(complete ? add_whole_outputs() : add_outputs(&stage));
  stage.graph = builder_.take();
  set_origins(&stage.graph);
  if (!complete) drop_unread_inputs(&stage);
  // Folded operators have left constants behind that nothing reads any more.
  MILLRACE_RETURN_IF_ERROR(eliminate_dead_code(stage.graph, {}));
  stage.read = read_names();
  stage.budget = builder_.budget();
  stage.rest = std::move(rest_);
  return stage;
}

void StageLowering::find_consumed(const network::Network& network) {
  for (const network::Node& node : network.nodes) {
    consumed_.insert(node.inputs.begin(), node.inputs.end());
    for (const network::Attribute& attribute : node.attributes) {
      const network::Network* inner = subgraph_of(attribute);
      if (inner != nullptr) find_consumed(*inner);
    }
  }
  for (const network::Output& output : network.outputs) consumed_.insert(output.name);
}

bool StageLowering::reads_waiting(const network::Node& node) const {
  // Captures of subgraphs do not count: an If may select a branch that captures nothing which is
  // waiting. find_value() notices that when the branch is lowered.
  return std::ranges::any_of(node.inputs,
                             [this](const std::string& name) { return waiting_.contains(name); });
}

void StageLowering::leave_to_rest(size_t index) {
  const network::Node& node = request_.network.nodes[index];
  coverage_.look_up(node, name_of(node));
  waiting_.insert(node.outputs.begin(), node.outputs.end());
  rest_.push_back(index);
}

Status StageLowering::lower_nodes() {
  for (const size_t index : request_.nodes) {
    const network::Node& node = request_.network.nodes[index];
    if (coverage_.pass_over_dependent(node)) continue;
    if (reads_waiting(node)) {
      leave_to_rest(index);
      continue;
    }
    const size_t settled = settled_.size();
    MILLRACE_ASSIGN_OR_RETURN(const Outcome outcome, lower_node(node, scopes_.front()));
    if (outcome != Outcome::kWaits) continue;
    take_back(settled);
    leave_to_rest(index);
  }
  return {};
}

StageLowering::Outcome StageLowering::leave_out(const network::Node& node, const Scope& scope,
                                                const std::string& reason) {
  coverage_.leave_out(node, scope.prefix + name_of(node), reason);
  return Outcome::kLeftOut;
}

Result<bool> StageLowering::has_only_constants(const network::Node& node, Scope& scope) {
  MILLRACE_ASSIGN_OR_RETURN(const auto operands, find_operands(node, scope));
  return std::ranges::all_of(operands, [this](ValueId id) {
    return id == kNoValue || builder_.value(id).constant.has_value();
  });
}

Result<StageLowering::Outcome> StageLowering::lower_node(const network::Node& node, Scope& scope) {
  if (!take_nodes(scope, 1)) return Outcome::kWaits;
  if (!is_covered(request_.network, node)) return leave_out(node, scope, "");
  if (is_if(node)) return lower_if(node, scope);
  if (is_control_flow(node)) {
    MILLRACE_ASSIGN_OR_RETURN(const Outcome unrolled, unroll(node, scope));
    if (unrolled != Outcome::kWaits) return unrolled;
  }
  if (runs_alone(node)) {
    bool computable = !is_control_flow(node) && !is_on_carried_sequence(node);
    if (computable) {
      waits_ = false;
      const Result<bool> constants = has_only_constants(node, scope);
      if (constants.status().code() == StatusCode::kUnsupported)
        return waits_ && request_.may_leave_rest
                   ? Outcome::kWaits
                   : leave_out(node, scope, constants.status().message());
      MILLRACE_RETURN_IF_ERROR(constants.status());
      computable = *constants;
    }
    if (!computable && request_.may_leave_rest) return Outcome::kWaits;
    if (!computable)
      return leave_out(node, scope, "the shape of its result is known only after it has run");
  }
  waits_ = false;
  const Status status = lower_covered(node, scope);
  if (status.code() == StatusCode::kUnsupported) {
    return waits_ && request_.may_leave_rest ? Outcome::kWaits
                                             : leave_out(node, scope, status.message());
  }
  MILLRACE_RETURN_IF_ERROR(status.with_context(describe(node)));
  return take_results(node, scope) ? Outcome::kLowered : Outcome::kWaits;
}

// Lowers a node to operators of the graph if they support it and its types, and to a fallback
// operator otherwise. A failed attempt may leave nodes in the graph, which nothing reads. If both
// attempts fail for lack of elements that KnownElements can compute, constants replace these
// values, and both are tried again.
Status StageLowering::lower_covered(const network::Node& node, Scope& scope) {
  const int opset = opset_of(request_.network, node);
  const OperatorEntry* entry = find_operator(node.domain, node.type, opset);
  while (true) {
    const size_t first_node = builder_.graph().nodes.size();
    Attempt first;
    if (entry != nullptr) first = lower_by_handler(node, *entry, scope);
    const bool refused = entry == nullptr || first.status.code() == StatusCode::kUnsupported;
    if (!refused && (!first.status.ok() || check_new_kernels(first_node).ok())) return first.status;
    Attempt second;
    if (has_fallback(node, opset)) {
      second = lower_by_fallback(node, scope);
      if (second.status.code() != StatusCode::kUnsupported) return second.status;
    }
    const auto& asked = first.asked.empty() ? second.asked : first.asked;
    if (!asked.empty() && settle(asked)) continue;
    waits_ = waits_ || !asked.empty();
    const bool first_says_why = !refused || !first.asked.empty() || second.status.ok();
    return first_says_why ? first.status : second.status;
  }
}

Status StageLowering::check_new_kernels(size_t first_node) const {
  const graph::Graph& graph = builder_.graph();
  for (size_t i = first_node; i < graph.nodes.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(request_.capabilities.check(graph, graph.nodes[i]));
  }
  return {};
}

StageLowering::Attempt StageLowering::lower_by_fallback(const network::Node& node, Scope& scope) {
  Attempt attempt;
  const auto lower = [&]() -> Status {
    MILLRACE_ASSIGN_OR_RETURN(std::vector<ValueId> operands, find_operands(node, scope));
    MILLRACE_ASSIGN_OR_RETURN(graph::Fallback op,
                              read_fallback(node, opset_of(request_.network, node)));
    MILLRACE_ASSIGN_OR_RETURN(
        const std::vector<ValueId> outputs,
        builder_.emit_fallback(scope.prefix + name_of(node), std::move(op), std::move(operands),
                               node.outputs.size(), &attempt.asked));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = node.outputs[i];
      if (name.empty()) continue;
      builder_.value(outputs[i]).name = scope.prefix + name;
      scope.values.insert_or_assign(name, outputs[i]);
    }
    return {};
  };
  attempt.status = lower();
  origins_.resize(builder_.graph().nodes.size(), {&node, &scope});
  return attempt;
}

Result<ValueId> StageLowering::call_handler(const OperatorEntry& entry, NodeImport& import,
                                            const network::Node& node) {
  const std::vector<ValueId>& operands = import.operands();
  MILLRACE_RETURN_IF_ERROR(fallback::check_inputs(
      operands.size(), entry.operands, [&](size_t i) { return operands[i] != kNoValue; }));
  if (node.outputs.empty()) return invalid_argument("it has no output");
  // Files of early opsets may have attributes of their own, which change no result. Operators that
  // came later have none in such files.
  constexpr int kFirstStrictOpset = 23;
  if (entry.domain.empty() && (entry.since >= kFirstStrictOpset || import.opset() > kMaxOpset))
    MILLRACE_RETURN_IF_ERROR(import.check_attributes());
  const Result<ValueId> first = entry.handler(import);
  MILLRACE_RETURN_IF_ERROR(import.attribute_status());
  MILLRACE_RETURN_IF_ERROR(first.status());
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const std::string& name = node.outputs[i];
    if (import.extra_outputs()[i] == kNoValue && !name.empty() && consumed_.contains(name)) {
      return unsupported(fmt::format("its output '{}' is read, but not supported", name));
    }
  }
  return *first;
}

StageLowering::Attempt StageLowering::lower_by_handler(const network::Node& node,
                                                       const OperatorEntry& entry, Scope& scope) {
  Result<std::vector<ValueId>> operands = find_operands(node, scope);
  if (!operands.ok()) return {operands.status(), {}};
  const auto first_new = static_cast<ValueId>(builder_.graph().values.size());
  NodeImport import(builder_, node, scope.prefix + name_of(node), opset_of(request_.network, node),
                    *std::move(operands));
  const Result<ValueId> first = call_handler(entry, import, node);
  origins_.resize(builder_.graph().nodes.size(), {&node, &scope});
  if (first.ok()) name_outputs(node, import, *first, first_new, scope);
  return {first.status(), import.asked()};
}

// Values that the node has made get the names of its outputs. A value that existed before (such as
// the operand of an Identity) keeps its name, and the scope has it under both names.
void StageLowering::name_outputs(const network::Node& node, const NodeImport& import, ValueId first,
                                 ValueId first_new, Scope& scope) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = i == 0 ? first : import.extra_outputs()[i];
    if (id == kNoValue || node.outputs[i].empty()) continue;
    if (id >= first_new) builder_.value(id).name = scope.prefix + node.outputs[i];
    scope.values.insert_or_assign(node.outputs[i], id);
  }
}

// Returns the branch that the condition selects; null if the condition is not known.
Result<const network::Network*> StageLowering::chosen_branch(const network::Node& node,
                                                             Scope& scope) {
  if (node.inputs.size() != 1 || node.inputs[0].empty())
    return invalid_argument("it must have one input, its condition");
  for (const char* name : {"then_branch", "else_branch"}) {
    const network::Network* branch = subgraph_of(node, name);
    if (branch == nullptr || !branch->inputs.empty() ||
        branch->outputs.size() != node.outputs.size())
      return invalid_argument(fmt::format(
          "its {} must be a subgraph without inputs, with as many outputs as the node", name));
  }
  MILLRACE_ASSIGN_OR_RETURN(ValueId condition, find_value(node.inputs[0], scope));
  if (!builder_.value(condition).constant) {
    if (!settle({condition})) return nullptr;
    condition = constants_.at(condition);
  }
  const graph::Value& value = builder_.value(condition);
  if (value.type != tensor::DataType::kBoolean || value.elements() != 1)
    return invalid_argument("its condition must be one BOOLEAN");
  const bool chosen = value.constant->as<uint8_t>()[0] != 0;
  return subgraph_of(node, chosen ? "then_branch" : "else_branch");
}

Result<StageLowering::Outcome> StageLowering::lower_if(const network::Node& node, Scope& scope) {
  waits_ = false;
  const Result<const network::Network*> branch = chosen_branch(node, scope);
  if (branch.status().code() == StatusCode::kUnsupported && waits_ && request_.may_leave_rest)
    return Outcome::kWaits;  // its condition is a result of a node that waits
  MILLRACE_RETURN_IF_ERROR(branch.status().with_context(describe(node)));
  if (*branch != nullptr) return lower_branch(node, **branch, scope);
  if (request_.may_leave_rest) return Outcome::kWaits;
  return leave_out(node, scope,
                   fmt::format("its condition '{}' is not a constant", node.inputs[0]));
}

Result<StageLowering::Outcome> StageLowering::lower_branch(const network::Node& node,
                                                           const network::Network& branch,
                                                           Scope& scope) {
  if (!take_nodes(scope, branch.initializers.size())) return Outcome::kWaits;
  Scope& inner = open_scope(branch, fmt::format("{}{}/", scope.prefix, name_of(node)), &scope);
  for (const network::Node& inside : branch.nodes) {
    const Result<Outcome> outcome = lower_node(inside, inner);
    if (!outcome.ok()) return outcome.status().with_context(describe(node));
    if (*outcome != Outcome::kLowered) return outcome;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    waits_ = false;
    const Result<ValueId> id = find_value(branch.outputs[i].name, inner);
    if (!id.ok() && waits_) return Outcome::kWaits;
    MILLRACE_RETURN_IF_ERROR(id.status().with_context(describe(node)));
    if (!node.outputs[i].empty()) scope.values.insert_or_assign(node.outputs[i], *id);
  }
  return Outcome::kLowered;
}

}  // namespace millrace::lowering
