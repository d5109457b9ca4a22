// Writes fallback operators, which have the form of the standard. The operators that the compiler
// itself makes, or that no supported opset has, are written as the operators that they consist of.
#include <numeric>
#include <string_view>
#include <utility>

#include "compiler/export/operator_writers.h"

namespace millrace::compiler {
namespace {

// Returns the domain: "com.microsoft" for "com.microsoft.Gelu", empty for "GatherND".
std::string_view domain_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : name.substr(0, dot);
}

std::string_view type_of(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// Writes attention as softmax(Q K^T * scale + mask) V, the operators from which the compiler fused
// it.
void write_attention(ProtoModel& model, const graph::Node& node, const graph::Fallback& op) {
  graph::Dims permutation(model.value(node.input(1)).shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  const std::string keys =
      model.add("Transpose", {model.numbers(node.input(1))}, {{"perm", permutation}});
  std::string scores = model.add("MatMul", {model.numbers(node.input(0)), keys});
  for (const graph::Attribute& scale : op.attributes)
    scores = model.add("Mul", {scores, model.floats({}, {std::get<float>(scale.value)})});
  if (node.input(3) != graph::kNoValue)
    scores = model.add("Add", {scores, model.numbers(node.input(3))});
  const std::string weights = model.add("Softmax", {scores}, {{"axis", int64_t{-1}}});
  model.add("MatMul", {weights, model.numbers(node.input(2))});
  model.store(node.outputs[0]);
}

// Writes x / sqrt(mean(x^2) + epsilon) * scale: opsets before 23 have no RMSNormalization.
void write_rms_normalization(ProtoModel& model, const graph::Node& node,
                             const graph::Fallback& op) {
  const auto rank = static_cast<int64_t>(model.value(node.input(0)).shape.size());
  int64_t axis = -1;
  float epsilon = 1e-5f;
  for (const graph::Attribute& attribute : op.attributes) {
    if (attribute.name == "axis") axis = std::get<int64_t>(attribute.value);
    if (attribute.name == "epsilon") epsilon = std::get<float>(attribute.value);
  }
  if (axis < 0) axis += rank;
  graph::Dims axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  const std::string x = model.numbers(node.input(0));
  const std::string squares = model.add("Mul", {x, x});
  const std::string mean =
      write_reduction(model, {graph::ReduceKind::kMean, std::move(axes), true}, squares);
  const std::string shifted = model.add("Add", {mean, model.floats({}, {epsilon})});
  const std::string normalised = model.add("Div", {x, model.add("Sqrt", {shifted})});
  model.add("Mul", {normalised, model.numbers(node.input(1))});
  model.store(node.outputs[0]);
}

}  // namespace

Result<std::string> write(ProtoModel& model, const graph::Node& node, const graph::Fallback& op) {
  if (op.name == "millrace.Attention") {
    write_attention(model, node, op);
    return std::string();
  }
  if (op.name == "RMSNormalization") {
    write_rms_normalization(model, node, op);
    return std::string();
  }
  std::vector<std::string> operands, outputs;
  for (const graph::ValueId id : node.inputs) operands.push_back(model.stored(id));
  for (const graph::ValueId id : node.outputs) outputs.push_back(model.stored(id));
  ProtoAttributes attributes;
  for (const graph::Attribute& attribute : op.attributes)
    attributes.push_back({attribute.name, attribute.value});
  model.add(domain_of(op.name), type_of(op.name), std::move(operands), outputs, attributes);
  return std::string();
}

}  // namespace millrace::compiler
