// The shape functions of elementwise operators, Softmax, Cast, Reduce and Requantise; the dispatch
// to all shape functions; and broadcasting. shape/data.cpp and shape/window.cpp have the other
// operators.
#include "graph/shape.h"

#include <algorithm>

#include "graph/shape/check.h"

namespace millrace::graph {

Result<size_t> normalise_axis(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis >= -limit && axis < limit) return static_cast<size_t>(axis < 0 ? axis + limit : axis);
  return invalid_argument(fmt::format("axis {} is outside rank {}", axis, rank));
}

Result<Dims> broadcast(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims shape = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& dim = shape[lead + i];
    if (dim == shorter[i] || shorter[i] == 1) continue;
    if (dim != 1) {
      return invalid_argument(
          fmt::format("{} and {} do not broadcast", to_string(a), to_string(b)));
    }
    dim = shorter[i];
  }
  return shape;
}

Result<ValueType> infer(const Unary& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_activation(op.function));
  if (op.function.kind != UnaryKind::kIdentity) {
    MILLRACE_RETURN_IF_ERROR(check_numeric("x", *inputs[0]));
  }
  return ValueType{inputs[0]->type, inputs[0]->shape};
}

Result<ValueType> infer(const Binary& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 2, 2));
  if (static_cast<int>(op.kind) >= kBinaryKindCount) return invalid_argument("unknown function");
  MILLRACE_RETURN_IF_ERROR(check_numeric("the first operand", *inputs[0]));
  if (inputs[0]->type != inputs[1]->type) {
    return invalid_argument(fmt::format("operands are {} and {}",
                                        tensor::to_string(inputs[0]->type),
                                        tensor::to_string(inputs[1]->type)));
  }
  MILLRACE_ASSIGN_OR_RETURN(Dims shape, broadcast(inputs[0]->shape, inputs[1]->shape));
  return ValueType{inputs[0]->type, std::move(shape)};
}

Result<ValueType> infer(const Softmax& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_floating("x", *inputs[0]));
  MILLRACE_RETURN_IF_ERROR(check_axis(op.axis, inputs[0]->shape.size()));
  return ValueType{inputs[0]->type, inputs[0]->shape};
}

Result<ValueType> infer(const Cast& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  if (tensor::size_of(op.to) == 0) return invalid_argument("unknown type");
  return ValueType{op.to, inputs[0]->shape};
}

Result<ValueType> infer(const Reduce& op, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  if (static_cast<int>(op.kind) >= kReduceKindCount) return invalid_argument("unknown function");
  const bool extreme = op.kind == ReduceKind::kMax || op.kind == ReduceKind::kMin;
  if (!extreme) MILLRACE_RETURN_IF_ERROR(check_numeric("x", *inputs[0]));
  const Dims& input = inputs[0]->shape;
  if (op.axes.empty()) return invalid_argument("no axes");
  for (size_t i = 0; i < op.axes.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(check_axis(op.axes[i], input.size()));
    if (i > 0 && op.axes[i] <= op.axes[i - 1]) {
      return invalid_argument(fmt::format("axes {} are not ascending", to_string(op.axes)));
    }
  }
  Dims shape;
  for (size_t i = 0; i < input.size(); ++i) {
    const bool reduced = std::binary_search(op.axes.begin(), op.axes.end(), int64_t(i));
    if (!reduced) shape.push_back(input[i]);
    if (reduced && op.keep_dims) shape.push_back(1);
  }
  return ValueType{inputs[0]->type, std::move(shape)};
}

Result<ValueType> infer(const Requantise&, Operands inputs) {
  MILLRACE_RETURN_IF_ERROR(check_operand_count(inputs, 1, 1));
  MILLRACE_RETURN_IF_ERROR(check_floating("x", *inputs[0]));
  return ValueType{tensor::DataType::kFloat32, inputs[0]->shape};
}

Result<ValueType> infer(const Fallback& op, Operands) {
  return internal_error("the shape function of " + op.name + " is not in the graph's table");
}

Result<ValueType> infer_output(const Operator& op, Operands inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    if (tensor::size_of(inputs[i]->type) == 0) {
      return invalid_argument(fmt::format("input {} has no known type", i));
    }
    if (Status status = check_shape(inputs[i]->shape); !status.ok()) {
      return status.with_context(fmt::format("input {}", i));
    }
  }
  Result<ValueType> output =
      std::visit([&](const auto& attributes) { return infer(attributes, inputs); }, op);
  if (output.ok()) MILLRACE_RETURN_IF_ERROR(check_shape(output->shape).with_context("output"));
  return output;
}

SeenOperands::SeenOperands(const Graph& graph, const Node& node) {
  numbers_.reserve(node.inputs.size());  // operands_ points into it
  operands_.reserve(node.inputs.size());
  const bool numbers = computes_numbers(node.op);
  for (const ValueId id : node.inputs) {
    const Value* value = id == kNoValue ? nullptr : &graph.values[id];
    if (value != nullptr && value->quantisation && numbers) {
      numbers_.push_back({value->name, number_type(*value), value->shape, std::nullopt});
      value = &numbers_.back();
    }
    operands_.push_back(value);
  }
}

Result<ValueType> infer_output(const Graph& graph, const Node& node) {
  Result<ValueType> output = infer_output(node.op, SeenOperands(graph, node).all());
  if (output.ok()) return output;
  return output.status().with_context(fmt::format("node '{}' ({})", node.name, name_of(node.op)));
}

}  // namespace millrace::graph
