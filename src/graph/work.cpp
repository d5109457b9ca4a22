#include "graph/work.h"

#include <variant>

namespace millrace::graph {
namespace {

// Attention has two matrix products: per query, Q K^T takes keys * depth multiplications, and the
// product with V takes keys * (elements of a value). Shapes come from archives and may be
// malformed; then the result is 0.
double of_attention(const Graph& graph, const Node& node) {
  const ValueId key = node.input(1), value = node.input(2);
  if (key == kNoValue || value == kNoValue) return 0;
  const Dims &key_shape = graph.values[key].shape, &value_shape = graph.values[value].shape;
  if (key_shape.size() < 2 || value_shape.empty() || value_shape.back() == 0) return 0;
  const auto keys = static_cast<double>(key_shape[key_shape.size() - 2]);
  const auto depth = static_cast<double>(key_shape.back());
  return keys * (1 + depth / static_cast<double>(value_shape.back()));
}

// Each element of the state has a few gates (4 in an LSTM), each a dot product with the input and
// one with the previous state.
double of_lstm(const Graph& graph, const Node& node) {
  const ValueId weights = node.input(1), recurrence = node.input(2);
  if (weights == kNoValue || recurrence == kNoValue) return 0;
  const Dims &input = graph.values[weights].shape, &state = graph.values[recurrence].shape;
  if (input.size() != 3 || state.size() != 3 || state[2] == 0) return 0;
  const double gates = static_cast<double>(input[1]) / static_cast<double>(state[2]);
  return gates * static_cast<double>(input[2] + state[2]);
}

}  // namespace

double multiplications_per_element(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Conv>(node.op)) {
    const Value& weights = graph.values[node.inputs[1]];
    return static_cast<double>(weights.elements()) / static_cast<double>(weights.shape[0]);
  }
  if (const auto* product = std::get_if<MatMul>(&node.op)) {
    const Dims& a = graph.values[node.inputs[0]].shape;
    return static_cast<double>(product->transpose_a && a.size() > 1 ? a[a.size() - 2] : a.back());
  }
  const auto* other = std::get_if<Fallback>(&node.op);
  if (other == nullptr) return 0;
  if (other->name == "millrace.Attention" || other->name == "millrace.CachedAttention")
    return of_attention(graph, node);
  return is_lstm(node.op) ? of_lstm(graph, node) : 0;
}

bool is_lstm(const Operator& op) {
  const auto* other = std::get_if<Fallback>(&op);
  return other != nullptr && (other->name == "LSTM" || other->name == "millrace.RoundedLSTM");
}

}  // namespace millrace::graph
