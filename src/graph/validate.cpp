// validate(): checks every value by itself, then walks the nodes in order with the set of values
// that exist so far, and compares each output with the result of its shape function.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "graph/graph.h"
#include "graph/shape.h"

namespace millrace::graph {
namespace {

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({})", node.name, name_of(node.op));
}

// The least and the greatest integer of a type that can be quantised; nothing for other types.
std::optional<std::pair<int64_t, int64_t>> limits_of(tensor::DataType type) {
  switch (type) {
    case tensor::DataType::kInt8:
      return std::pair{-128, 127};
    case tensor::DataType::kUint8:
      return std::pair{0, 255};
    case tensor::DataType::kInt32:
      return std::pair{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default:
      return std::nullopt;
  }
}

Status check_quantisation(const Value& value) {
  const Quantisation& quantisation = *value.quantisation;
  const auto limits = limits_of(value.type);
  if (!limits) {
    return invalid_argument(fmt::format("{} cannot be quantised, only INT8, UINT8 and INT32",
                                        tensor::to_string(value.type)));
  }
  const size_t count = quantisation.scales.size();
  if (count == 0 || quantisation.zero_points.size() != count)
    return invalid_argument(
        fmt::format("{} scales, {} zero points", count, quantisation.zero_points.size()));
  if (quantisation.is_per_axis() &&
      (quantisation.axis >= value.shape.size() ||
       static_cast<uint64_t>(value.shape[quantisation.axis]) != count))
    return invalid_argument(
        fmt::format("{} scales do not fit dimension {}", count, quantisation.axis));
  for (const float scale : quantisation.scales)
    if (!std::isfinite(scale) || scale <= 0)
      return invalid_argument(fmt::format("a scale of {}", scale));
  for (const int32_t zero_point : quantisation.zero_points)
    if (zero_point < limits->first || zero_point > limits->second)
      return invalid_argument(fmt::format("{} cannot hold the zero point {}",
                                          tensor::to_string(value.type), zero_point));
  return {};
}

Status check_value(const Value& value) {
  if (tensor::size_of(value.type) == 0) return invalid_argument("no known type");
  MILLRACE_RETURN_IF_ERROR(check_shape(value.shape));
  if (value.quantisation) MILLRACE_RETURN_IF_ERROR(check_quantisation(value));
  if (value.constant && value.constant->bytes.size() != value.bytes()) {
    return invalid_argument(fmt::format("a constant of {} bytes, but type and shape take {}",
                                        value.constant->bytes.size(), value.bytes()));
  }
  return {};
}

Status check_values(const Graph& graph) {
  for (const Value& value : graph.values) {
    if (Status status = check_value(value); !status.ok()) {
      return status.with_context(fmt::format("value '{}'", value.name));
    }
  }
  return {};
}

// Walks a graph in order and records which values exist so far.
class OrderChecker {
 public:
  explicit OrderChecker(const Graph& graph) : graph_(graph), ready_(graph.values.size()) {
    for (size_t id = 0; id < graph.values.size(); ++id) {
      ready_[id] = graph.values[id].constant.has_value();
    }
  }

  Status check_inputs() {
    for (ValueId id : graph_.inputs) {
      MILLRACE_RETURN_IF_ERROR(check_id(id).with_context("graph inputs"));
      if (ready_[id]) return already_made(id).with_context("graph inputs");
      ready_[id] = true;
    }
    return {};
  }

  Status check_node(const Node& node) {
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      MILLRACE_RETURN_IF_ERROR(check_id(id));
      if (!ready_[id]) {
        return invalid_argument(fmt::format("reads '{}' before it is made", name(id)));
      }
    }
    const bool one = node.outputs.size() == 1;
    if (!one && (node.outputs.empty() || !std::holds_alternative<Fallback>(node.op))) {
      return invalid_argument(fmt::format("has {} outputs, not one", node.outputs.size()));
    }
    for (const ValueId id : node.outputs) {
      MILLRACE_RETURN_IF_ERROR(check_id(id));
      if (ready_[id]) return already_made(id);
      ready_[id] = true;
    }
    return {};
  }

  Status check_outputs() const {
    std::vector<bool> deliverable(graph_.values.size());
    for (const Node& node : graph_.nodes)
      for (const ValueId id : node.outputs) deliverable[id] = true;
    for (ValueId id : graph_.outputs) {
      MILLRACE_RETURN_IF_ERROR(check_id(id).with_context("graph outputs"));
      if (!deliverable[id]) {
        return invalid_argument(
            fmt::format("graph output '{}' is made by no node, or listed twice", name(id)));
      }
      deliverable[id] = false;
    }
    return {};
  }

 private:
  const std::string& name(ValueId id) const { return graph_.values[id].name; }

  Status check_id(ValueId id) const {
    if (id < graph_.values.size()) return {};
    return invalid_argument(fmt::format("value id {} of {}", id, graph_.values.size()));
  }

  Status already_made(ValueId id) const {
    return invalid_argument(
        fmt::format("'{}' is a constant, a graph input, or made twice", name(id)));
  }

  const Graph& graph_;
  std::vector<bool> ready_;
};

// The shape functions of Fallbacks are in src/fallback, beside the kernels. The device that loads a
// Fallback checks its outputs.
Status check_output_type(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Fallback>(node.op)) return {};
  MILLRACE_ASSIGN_OR_RETURN(const ValueType expected, infer_output(graph, node));
  const Value& actual = graph.values[node.outputs[0]];
  const tensor::DataType type = computes_numbers(node.op) ? number_type(actual) : actual.type;
  if (expected == ValueType{type, actual.shape}) return {};
  return invalid_argument(fmt::format("{}: output '{}' is {} {}, but the operator gives {} {}",
                                      describe(node), actual.name, tensor::to_string(actual.type),
                                      to_string(actual.shape), tensor::to_string(expected.type),
                                      to_string(expected.shape)));
}

}  // namespace

Status validate(const Graph& graph) {
  MILLRACE_RETURN_IF_ERROR(check_values(graph));
  OrderChecker order(graph);
  MILLRACE_RETURN_IF_ERROR(order.check_inputs());
  for (const Node& node : graph.nodes) {
    if (Status status = order.check_node(node); !status.ok()) {
      return status.with_context(describe(node));
    }
    MILLRACE_RETURN_IF_ERROR(check_output_type(graph, node));
  }
  return order.check_outputs();
}

}  // namespace millrace::graph
