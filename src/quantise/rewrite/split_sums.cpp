#include "quantise/rewrite/split_sums.h"

#include <utility>
#include <variant>

#include "quantise/rewrite/value_like.h"

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

constexpr size_t kResidual = 3, kSlope = 4;

bool has_sum(const Node& node) {
  return std::holds_alternative<graph::Conv>(node.op) && node.input(kResidual) != kNoValue &&
         node.input(kSlope) == kNoValue;
}

void add_nodes(Graph& graph, const Node& fused) {
  auto conv = std::get<graph::Conv>(fused.op);
  const graph::Activation function = std::exchange(conv.activation, {});
  const ValueId result = fused.outputs[0], residual = fused.inputs[kResidual];
  const ValueId summand = add_value_like(graph, result, "_summand");
  const bool has_function = function.kind != graph::UnaryKind::kIdentity;
  const ValueId sum = has_function ? add_value_like(graph, result, "_sum") : result;
  Node product = fused;
  product.op = conv;
  product.inputs.resize(kResidual);
  product.outputs = {summand};
  graph.nodes.push_back(std::move(product));
  graph.nodes.push_back({.name = fused.name + "/add",
                         .op = graph::Binary{graph::BinaryKind::kAdd},
                         .inputs = {summand, residual},
                         .outputs = {sum},
                         .precision = fused.precision,
                         .origins = fused.origins});
  if (has_function)
    graph.nodes.push_back({.name = fused.name + "/function",
                           .op = graph::Unary{function},
                           .inputs = {sum},
                           .outputs = {result},
                           .precision = fused.precision,
                           .origins = fused.origins});
}

}  // namespace

Graph split_sums(const Graph& graph) {
  Graph result = graph;
  result.nodes.clear();
  for (const Node& node : graph.nodes) {
    if (has_sum(node))
      add_nodes(result, node);
    else
      result.nodes.push_back(node);
  }
  return result;
}

}  // namespace millrace::quantise
