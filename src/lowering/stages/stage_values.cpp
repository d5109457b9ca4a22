// StageLowering: the lookup of values by name, and the replacement of values by constants once
// their elements are known.
#include <fmt/format.h>

#include <algorithm>

#include "lowering/node_facts.h"
#include "lowering/operators/early_opsets.h"
#include "lowering/stages/stage_lowering.h"

namespace millrace::lowering {

using graph::kNoValue;
using graph::ValueId;

StageLowering::Scope& StageLowering::open_scope(const network::Network& network, std::string prefix,
                                                Scope* outer) {
  // Each node of the subgraph includes the prefix in its names. Without a limit, deeply nested
  // subgraphs would take memory that grows with the square of their depth.
  constexpr size_t kLongestPrefix = 1024;
  if (prefix.size() > kLongestPrefix) prefix = fmt::format("subgraph {}/", scopes_.size());
  const bool repeats = outer != nullptr && outer->repeats;
  Scope& scope = scopes_.emplace_back(Scope{&network, std::move(prefix), outer, repeats});
  for (const graph::Value& value : network.initializers)
    scope.initializers.emplace(value.name, &value);
  return scope;
}

// Initializers and known values are added to the graph on first use: unused ones cost nothing.
Result<ValueId> StageLowering::find_value(const std::string& name, Scope& scope) {
  for (Scope* place = &scope; place != nullptr; place = place->outer) {
    auto value = place->values.find(name);
    if (value == place->values.end()) {
      const auto initializer = place->initializers.find(name);
      if (initializer == place->initializers.end()) continue;
      value = place->values.emplace(name, builder_.add_constant(*initializer->second)).first;
    }
    const auto constant = constants_.find(value->second);
    return constant != constants_.end() ? constant->second : value->second;
  }
  const auto known = known_.find(name);
  if (known != known_.end()) {
    if (known->second->type == tensor::DataType::kUnknown) {
      waits_ = true;  // it exists at run time only, for nodes that run by themselves
      return unsupported(fmt::format("its input '{}' is a sequence that a loop carries", name));
    }
    MILLRACE_ASSIGN_OR_RETURN(const ValueId id, add_known(*known->second));
    scopes_.front().values.emplace(name, id);
    return id;
  }
  if (waiting_.contains(name)) {
    waits_ = true;
    return unsupported(fmt::format("its input '{}' is computed by a later stage", name));
  }
  return invalid_argument(fmt::format("no node, input or initializer is named '{}'", name));
}

Result<ValueId> StageLowering::add_known(const Known& known) {
  ValueId id = kNoValue;
  if (known.constant && known.elements) {
    graph::Value constant{known.name, known.type, known.shape, known.elements};
    if (constant.bytes() != known.elements->bytes.size())
      return internal_error(
          fmt::format("the elements of '{}' do not have the size of its shape", known.name));
    id = builder_.add_constant(std::move(constant));
  } else {
    id = builder_.add_input(known.name, known.type, known.shape);
    input_names_.push_back(known.name);
    elements_.add_input(id, known);
  }
  if (tensor::fits_float32(known.type) && known.type != tensor::DataType::kFloat32) {
    MILLRACE_ASSIGN_OR_RETURN(
        id, builder_.emit(known.name + "/FLOAT32", graph::Cast{tensor::DataType::kFloat32}, {id}));
    origins_.resize(builder_.graph().nodes.size());
  }
  return id;
}

Result<std::vector<ValueId>> StageLowering::find_operands(const network::Node& node, Scope& scope) {
  std::vector<ValueId> operands;
  for (const std::string& name : node.inputs) {
    operands.push_back(kNoValue);
    if (!name.empty()) {
      MILLRACE_ASSIGN_OR_RETURN(operands.back(), find_value(name, scope));
    }
  }
  MILLRACE_RETURN_IF_ERROR(check_sequences(node, operands));
  MILLRACE_RETURN_IF_ERROR(
      align_operands(builder_, node, opset_of(request_.network, node), operands));
  return operands;
}

// Refuses sequences as operands of operators that cannot be lowered to operators on the members.
Status StageLowering::check_sequences(const network::Node& node,
                                      const std::vector<ValueId>& operands) const {
  if (reads_sequences(node)) return {};
  for (size_t i = 0; i < operands.size(); ++i)
    if (builder_.sequence_of(operands[i]) != nullptr)
      return unsupported(fmt::format("its input '{}' is a sequence", node.inputs[i]));
  return {};
}

Status StageLowering::check_no_sequence(ValueId id) const {
  if (builder_.sequence_of(id) == nullptr) return {};
  return unsupported("it is a sequence; only tensors can be outputs of a stage");
}

// Replaces the values by constants, if the elements of all of them can be computed.
bool StageLowering::settle(const std::vector<ValueId>& asked) {
  for (const ValueId id : asked) {
    if (elements_.of(id) == nullptr) return false;
  }
  for (const ValueId id : asked) {
    const KnownElements::Computed& computed = *elements_.of(id);
    graph::Value constant = computed.value;
    constant.name = builder_.value(id).name;
    if (!constants_.try_emplace(id, static_cast<ValueId>(builder_.graph().values.size())).second)
      continue;
    builder_.add_constant(std::move(constant));
    settled_.push_back({id, computed.known});
  }
  return true;
}

// Undoes all but the first `settled` replacements, when the node that needed them is left to the
// rest: then nothing in the graph depends on them.
void StageLowering::take_back(size_t settled) {
  for (; settled_.size() > settled; settled_.pop_back()) constants_.erase(settled_.back().id);
}

std::vector<std::string> StageLowering::read_names() const {
  std::set<std::string> names;
  for (const Settled& settled : settled_) names.insert(settled.known.begin(), settled.known.end());
  return {names.begin(), names.end()};
}

}  // namespace millrace::lowering
