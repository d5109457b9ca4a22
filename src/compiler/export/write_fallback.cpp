// Writes fallback operators, which have the form of the standard. The operators that the compiler
// itself makes, or that no supported opset has, are written as the operators that they consist of.
#include <algorithm>
#include <limits>
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

// Adds a number of the type of the first operand of a node, for operators that take one type.
std::string write_number(ProtoModel& model, const graph::Node& node, double number) {
  if (model.value(node.input(0)).type != tensor::DataType::kFloat64)
    return model.floats({}, {static_cast<float>(number)});
  return model.constant(
      {{}, tensor::DataType::kFloat64, {}, graph::Constant::of(std::vector<double>{number})});
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
    scores = model.add(
        "Mul",
        {scores, write_number(model, node, static_cast<double>(std::get<float>(scale.value)))});
  if (node.input(3) != graph::kNoValue)
    scores = model.add("Add", {scores, model.numbers(node.input(3))});
  const std::string weights = model.add("Softmax", {scores}, {{"axis", int64_t{-1}}});
  model.add("MatMul", {weights, model.numbers(node.input(2))});
  model.store(node.outputs[0]);
}

// CachedSizes has the shapes of the operands of a CachedAttention, and its attributes.
struct CachedSizes {
  explicit CachedSizes(const ProtoModel& model, const graph::Node& node, const graph::Fallback& op)
      : query(model.value(node.input(0)).shape),
        key(model.value(node.input(1)).shape),
        value(model.value(node.input(2)).shape) {
    for (const graph::Attribute& attribute : op.attributes) {
      if (attribute.name == "causal") is_causal = std::get<int64_t>(attribute.value) != 0;
      if (attribute.name == "window") window = std::get<int64_t>(attribute.value);
      if (attribute.name == "scale") scale = static_cast<double>(std::get<float>(attribute.value));
    }
  }

  // The shape of a tensor whose heads of a group are rows of one matrix.
  graph::Dims grouped(int64_t columns) const {
    return {query[0], key[1], query[1] / key[1] * query[2], columns};
  }

  graph::Dims query, key, value;
  bool is_causal = true;
  int64_t window = -1;
  double scale = 1;
};

// Returns the numbers from `first` on, `step` apart, as [rows, columns] of INT64.
std::string write_range(ProtoModel& model, int64_t rows, int64_t columns, int64_t first,
                        int64_t step) {
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < rows * columns; ++i) elements.push_back(first + i * step);
  return model.constant(
      {{}, tensor::DataType::kInt64, {rows, columns}, graph::Constant::of(elements)});
}

std::string write_reshape(ProtoModel& model, const std::string& x, const graph::Dims& shape) {
  return model.add("Reshape", {x, model.integers(shape)});
}

// Returns which keys each query sees, [batch, 1, L or 1, S] of BOOL. `lengths` is [batch, 1, 1, 1].
std::string write_seen(ProtoModel& model, const CachedSizes& sizes, const std::string& lengths) {
  const int64_t queries = sizes.query[2], keys = sizes.key[2];
  const auto compared = [&](int64_t added) {
    std::string positions = write_range(model, 1, keys, added, 1);
    if (sizes.is_causal)
      positions = model.add("Add", {positions, write_range(model, queries, 1, queries - 1, -1)});
    return model.add("Less", {positions, lengths});
  };
  const std::string seen = compared(0);
  if (sizes.window < 0) return seen;
  const std::string passed = compared(std::min(sizes.window, keys));
  return model.add("And", {seen, model.add("Not", {passed})});
}

// Returns the softmax of the scores that are seen, and 0 for the others.
std::string write_weights(ProtoModel& model, const graph::Node& node, const CachedSizes& sizes,
                          std::string scores, const std::string& seen) {
  const std::string hidden = write_number(model, node, -std::numeric_limits<double>::infinity());
  scores = model.add("Where", {seen, scores, hidden});
  const graph::ValueId sinks = node.input(4);
  if (sinks != graph::kNoValue) {
    const graph::Dims columns = {sizes.query[0], sizes.query[1], sizes.query[2], 1};
    const std::string column =
        write_reshape(model, model.numbers(sinks), {1, sizes.query[1], 1, 1});
    const std::string expanded = model.add("Expand", {column, model.integers(columns)});
    scores = model.add("Concat", {scores, expanded}, {{"axis", int64_t{3}}});
  }
  std::string weights = model.add("Softmax", {scores}, {{"axis", int64_t{3}}});
  if (sinks != graph::kNoValue)
    weights = model.add("Slice", {weights, model.integers({0}), model.integers({sizes.key[2]}),
                                  model.integers({3})});
  return model.add("Where", {seen, weights, write_number(model, node, 0)});
}

// Writes attention over buffers of keys and values as the products and the softmax that it is made
// of. What the buffers hold after the end of a sequence is replaced by 0.
void write_cached_attention(ProtoModel& model, const graph::Node& node, const graph::Fallback& op) {
  const CachedSizes sizes(model, node, op);
  const std::string lengths =
      write_reshape(model, model.stored(node.input(3)), {sizes.query[0], 1, 1, 1});
  const std::string filled =
      model.add("Less", {write_range(model, sizes.key[2], 1, 0, 1), lengths});
  const std::string zero = write_number(model, node, 0);
  const std::string key = model.add("Where", {filled, model.numbers(node.input(1)), zero});
  const std::string value = model.add("Where", {filled, model.numbers(node.input(2)), zero});
  const std::string query =
      write_reshape(model, model.numbers(node.input(0)), sizes.grouped(sizes.query[3]));
  const std::string columns = model.add("Transpose", {key}, {{"perm", graph::Dims{0, 1, 3, 2}}});
  std::string scores = model.add("MatMul", {query, columns});
  scores = model.add("Mul", {scores, write_number(model, node, sizes.scale)});
  graph::Dims shape = sizes.query;
  shape[3] = sizes.key[2];
  scores = write_reshape(model, scores, shape);
  std::string weights =
      write_weights(model, node, sizes, scores, write_seen(model, sizes, lengths));
  weights = write_reshape(model, weights, sizes.grouped(sizes.key[2]));
  shape[3] = sizes.value[3];
  write_reshape(model, model.add("MatMul", {weights, value}), shape);
  model.store(node.outputs[0]);
}

// Writes x / sqrt(mean(x^2) + epsilon) * scale: opsets before 23 have no RMSNormalization.
void write_rms_normalization(ProtoModel& model, const graph::Node& node,
                             const graph::Fallback& op) {
  const auto rank = static_cast<int64_t>(model.value(node.input(0)).shape.size());
  int64_t axis = -1;
  double epsilon = 1e-5f;
  for (const graph::Attribute& attribute : op.attributes) {
    if (attribute.name == "axis") axis = std::get<int64_t>(attribute.value);
    if (attribute.name == "epsilon")
      epsilon = static_cast<double>(std::get<float>(attribute.value));
  }
  if (axis < 0) axis += rank;
  graph::Dims axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  const std::string x = model.numbers(node.input(0));
  const std::string squares = model.add("Mul", {x, x});
  const std::string mean =
      write_reduction(model, {graph::ReduceKind::kMean, std::move(axes), true}, squares);
  const std::string shifted = model.add("Add", {mean, write_number(model, node, epsilon)});
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
  if (op.name == "millrace.CachedAttention") {
    write_cached_attention(model, node, op);
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
