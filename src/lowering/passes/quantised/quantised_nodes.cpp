#include "lowering/passes/quantised/quantised_nodes.h"

#include <algorithm>

#include "lowering/linear_quantisation.h"

namespace millrace::lowering {
namespace {

using graph::UnaryKind;

struct OnlyMoves {
  bool operator()(const graph::Reshape&) const { return true; }
  bool operator()(const graph::Transpose&) const { return true; }
  bool operator()(const graph::Slice&) const { return true; }
  bool operator()(const graph::Gather&) const { return true; }
  bool operator()(const graph::Expand&) const { return true; }
  bool operator()(const graph::Concat&) const { return true; }
  bool operator()(const graph::Unary& op) const { return op.function.kind == UnaryKind::kIdentity; }
  bool operator()(const graph::Pool& op) const { return op.kind == graph::PoolKind::kMax; }
  bool operator()(const graph::GlobalPool& op) const { return op.kind == graph::PoolKind::kMax; }
  bool operator()(const graph::Resize& op) const { return op.mode == graph::ResizeMode::kNearest; }
  bool operator()(const graph::Pad& op) const {
    return op.mode != graph::PadMode::kConstant || op.value == 0;
  }
  template <class Op>
  bool operator()(const Op&) const {
    return false;
  }
};

}  // namespace

bool have_same_quantisation(const graph::Value& a, const graph::Value& b) {
  return a.type == b.type && a.quantisation == b.quantisation;
}

bool is_plainly_quantised(const graph::Value& value) {
  return value.quantisation && !value.quantisation->is_per_axis() && is_byte(value.type);
}

bool only_moves(const graph::Operator& op) {
  return std::visit(OnlyMoves{}, op);
}

size_t moved_operands(const graph::Node& node) {
  return std::holds_alternative<graph::Concat>(node.op) ? node.inputs.size() : 1;
}

std::optional<graph::Quantisation> moved_quantisation(const graph::Operator& op,
                                                      const graph::Value& moved) {
  if (!moved.quantisation || !is_byte(moved.type)) return std::nullopt;
  graph::Quantisation result = *moved.quantisation;
  if (!result.is_per_axis()) return result;
  const auto* transpose = std::get_if<graph::Transpose>(&op);
  if (transpose == nullptr) return std::nullopt;
  const auto place = std::ranges::find(transpose->permutation, int64_t{result.axis});
  result.axis = static_cast<uint32_t>(place - transpose->permutation.begin());
  return result;
}

graph::ValueId quantised_source(Editor& editor, graph::ValueId id) {
  if (id == graph::kNoValue || editor.maker_as<graph::Requantise>(id) == nullptr)
    return graph::kNoValue;
  const graph::ValueId source = editor.node(*editor.maker(id)).inputs[0];
  const bool dequantises = editor.value(source).quantisation && !editor.value(id).quantisation;
  return dequantises ? source : graph::kNoValue;
}

graph::Activation* function_of(graph::Node& node) {
  if (auto* unary = std::get_if<graph::Unary>(&node.op)) return &unary->function;
  if (auto* conv = std::get_if<graph::Conv>(&node.op)) return &conv->activation;
  if (auto* matmul = std::get_if<graph::MatMul>(&node.op)) return &matmul->activation;
  return nullptr;
}

}  // namespace millrace::lowering
