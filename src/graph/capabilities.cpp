#include "graph/capabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "graph/shape.h"

namespace millrace::graph {
namespace {

using tensor::DataType;

struct FunctionOf {
  const char* operator()(const Unary& op) const { return name_of(op.function.kind); }
  const char* operator()(const Binary& op) const { return name_of(op.kind); }
  const char* operator()(const Pool& op) const { return name_of(op.kind); }
  const char* operator()(const GlobalPool& op) const { return name_of(op.kind); }
  const char* operator()(const Reduce& op) const { return name_of(op.kind); }
  template <class Op>
  const char* operator()(const Op&) const {
    return nullptr;
  }
};

// Names the operator in messages: "Conv", "Reduce Sum"; an elementwise function goes by its own
// name, "Add".
std::string describe(const Operator& op) {
  const char* function = function_of(op);
  if (function == nullptr) return name_of(op);
  const bool elementwise = std::holds_alternative<Unary>(op) || std::holds_alternative<Binary>(op);
  return elementwise ? function : fmt::format("{} {}", name_of(op), function);
}

Status no_kernel(const Operator& op, DataType type, TypeSet known) {
  return unsupported(fmt::format("there is no kernel for {} of {}, only of {}", describe(op),
                                 tensor::to_string(type), to_string(known)));
}

bool is_empty(const Value* value) {
  return value != nullptr && value->elements() == 0;
}

// Whether the result is a sum or product over no elements: it has elements although an operand is
// empty. The kernels require at least one term.
bool sums_nothing(const Operator& op, std::span<const Value* const> inputs) {
  const bool sums = std::holds_alternative<Conv>(op) || std::holds_alternative<MatMul>(op) ||
                    std::holds_alternative<Reduce>(op);
  if (!sums || std::ranges::none_of(inputs, is_empty)) return false;
  const Result<ValueType> output = infer_output(op, inputs);
  return output.ok() && std::ranges::find(output->shape, 0) == output->shape.end();
}

}  // namespace

const char* function_of(const Operator& op) noexcept {
  return op.valueless_by_exception() ? nullptr : std::visit(FunctionOf{}, op);
}

const OperatorTypes& Capabilities::types_of(const Operator& op) const noexcept {
  static constexpr OperatorTypes kUnknown = {"?", nullptr, {}, {}};
  const std::string_view name = std::holds_alternative<Fallback>(op) ? "Fallback" : name_of(op);
  const char* const function = function_of(op);
  for (const OperatorTypes& row : operators_) {
    if (name != row.op) continue;
    if (row.function == nullptr) return row;
    if (function != nullptr && std::string_view(function) == row.function) return row;
  }
  return kUnknown;
}

Status Capabilities::check(const Operator& op, std::span<const Value* const> inputs) const {
  if (sums_nothing(op, inputs))
    return unsupported(fmt::format("there is no kernel for {} over no elements", describe(op)));
  const OperatorTypes& row = types_of(op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const TypeSet known = i == 0 ? row.first : row.others;
    if (!known.contains(inputs[i]->type)) return no_kernel(op, inputs[i]->type, known);
  }
  return {};
}

Status Capabilities::check(const Graph& graph, const Node& node) const {
  return check(node.op, SeenOperands(graph, node).all());
}

Status Capabilities::check(const Graph& graph) const {
  std::string missing;
  for (const Node& node : graph.nodes) {
    const Status status = check(graph, node);
    if (status.ok()) continue;
    missing +=
        fmt::format("{}node '{}': {}", missing.empty() ? "" : "; ", node.name, status.message());
  }
  return missing.empty() ? Status() : unsupported(std::move(missing));
}

bool Capabilities::runs_on_npu(const Graph& graph, const Node& node) const noexcept {
  const auto* fallback = std::get_if<Fallback>(&node.op);
  if (fallback == nullptr) return true;
  const auto row = std::ranges::find(fast_fallbacks_, fallback->name, &FastFallback::name);
  const ValueId first = node.input(0);
  return row != fast_fallbacks_.end() && first != kNoValue &&
         row->first.contains(graph.values[first].type);
}

}  // namespace millrace::graph
