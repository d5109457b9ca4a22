// Each node is rewritten in graph order: a Binary with a scalar constant becomes a Unary, a Unary
// is normalised (no-op bounds are removed, Neg becomes Linear) and composed with the Unary before
// it (Linear with Linear, Clip with Clip), and an identity is removed. A Reduce over all spatial
// dimensions becomes a GlobalPool.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "lowering/passes/bounds.h"
#include "lowering/passes/constants.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::Node;
using graph::UnaryKind;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The neutral element of addition: x + -0 is x for all x, while -0 + 0 is 0.
constexpr float kNothing = -0.0f;

// Returns `x op number` as a function of x; nothing if no Activation computes it.
std::optional<Activation> with_right_number(BinaryKind kind, float number) {
  switch (kind) {
    case BinaryKind::kAdd:
      return Activation{UnaryKind::kLinear, 1, number};
    case BinaryKind::kSub:
      return Activation{UnaryKind::kLinear, 1, -number};
    case BinaryKind::kMul:
      return Activation{UnaryKind::kLinear, number, kNothing};
    case BinaryKind::kDiv:
      if (!std::isnormal(number) || !std::isnormal(1 / number)) return std::nullopt;
      return Activation{UnaryKind::kLinear, 1 / number, kNothing};
    case BinaryKind::kPow:
      if (number == 0.5f) return Activation{UnaryKind::kSqrt, 0, 0};
      return Activation{UnaryKind::kPow, number, 0};
    case BinaryKind::kMin:
      return Activation{UnaryKind::kClip, -kInfinity, number};
    case BinaryKind::kMax:
      return Activation{UnaryKind::kClip, number, kInfinity};
    case BinaryKind::kPrelu:
      return Activation{UnaryKind::kLeakyRelu, number, 0};
  }
  return std::nullopt;
}

// Returns `number op x` as a function of x; nothing if no Activation computes it.
std::optional<Activation> with_left_number(BinaryKind kind, float number) {
  switch (kind) {
    case BinaryKind::kAdd:
    case BinaryKind::kMul:
    case BinaryKind::kMin:
    case BinaryKind::kMax:
      return with_right_number(kind, number);
    case BinaryKind::kSub:
      return Activation{UnaryKind::kLinear, -1, number};
    case BinaryKind::kDiv:
      if (number == 1) return Activation{UnaryKind::kReciprocal, 0, 0};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

void binary_to_unary(Editor& editor, Editor::Index index) {
  Node& node = editor.node(index);
  const auto* op = std::get_if<graph::Binary>(&node.op);
  if (op == nullptr) return;
  const graph::Dims& shape = editor.value(node.outputs[0]).shape;
  const auto right = scalar_of(editor.value(node.inputs[1]));
  const size_t slot = right ? 0 : 1;
  const auto number = right ? right : scalar_of(editor.value(node.inputs[0]));
  if (!number || std::isnan(*number) || editor.value(node.inputs[slot]).shape != shape) return;
  const auto function =
      right ? with_right_number(op->kind, *number) : with_left_number(op->kind, *number);
  if (!function) return;
  node.op = graph::Unary{*function};
  editor.set_inputs(index, {node.inputs[slot]});
}

// Exporters write "no bound" as infinity or as the largest float.
Activation clip_function(Bounds bounds) {
  const bool no_low = bounds.low <= -FLT_MAX, no_high = bounds.high >= FLT_MAX;
  if (no_low && no_high) return {};
  if (bounds.low == 0 && no_high) return {UnaryKind::kRelu, 0, 0};
  return {UnaryKind::kClip, bounds.low, bounds.high};
}

Activation normalised(const Activation& function) {
  if (const auto bounds = bounds_of(function)) return clip_function(*bounds);
  if (function.kind == UnaryKind::kNeg) return {UnaryKind::kLinear, -1, kNothing};
  if (function.kind == UnaryKind::kLinear && function.alpha == 1 && function.beta == 0) return {};
  return function;
}

// Returns outer(inner(x)) as one function of x: for two Linears, and for two functions with bounds
// (Relu or Clip).
std::optional<Activation> composed(const Activation& outer, const Activation& inner) {
  if (outer.kind == UnaryKind::kLinear && inner.kind == UnaryKind::kLinear) {
    return Activation{UnaryKind::kLinear, outer.alpha * inner.alpha,
                      outer.alpha * inner.beta + outer.beta};
  }
  const auto last = bounds_of(outer), first = bounds_of(inner);
  if (!last || !first || last->low > last->high || first->low > first->high) return std::nullopt;
  return clip_function({std::clamp(first->low, last->low, last->high),
                        std::clamp(first->high, last->low, last->high)});
}

void simplify_unary(Editor& editor, Editor::Index index) {
  auto* op = std::get_if<graph::Unary>(&editor.node(index).op);
  // The parameters of functions are floats, which do not represent all integers exactly.
  if (op == nullptr || !tensor::is_floating(editor.value(editor.node(index).outputs[0]).type)) {
    return;
  }
  op->function = normalised(op->function);
  const graph::ValueId input = editor.node(index).inputs[0];
  if (const auto* inner = editor.maker_as<graph::Unary>(input)) {
    if (const auto function = composed(op->function, inner->function)) {
      op->function = normalised(*function);
      const Editor::Index maker = *editor.maker(input);
      editor.has_single_reader(input) ? editor.take_origins(index, maker)
                                      : editor.absorb_origins(index, maker);
      editor.set_inputs(index, {editor.node(maker).inputs[0]});
    }
  }
  if (op->function.kind == UnaryKind::kIdentity) editor.bypass(index);
}

std::optional<graph::PoolKind> pool_kind(graph::ReduceKind kind) {
  if (kind == graph::ReduceKind::kMean) return graph::PoolKind::kAverage;
  if (kind == graph::ReduceKind::kMax) return graph::PoolKind::kMax;
  return std::nullopt;
}

bool reduces_all_spatial(const graph::Dims& axes, size_t rank) {
  if (rank < 3 || rank > 5 || axes.size() != rank - 2) return false;
  return axes.front() == 2;  // ascending and distinct, so the rest follows
}

void reduce_to_global_pool(Editor& editor, Editor::Index index) {
  const Node node = editor.node(index);
  const auto* op = std::get_if<graph::Reduce>(&node.op);
  if (op == nullptr) return;
  graph::Value pooled = editor.value(node.inputs[0]);
  const auto kind = pool_kind(op->kind);
  if (!kind || !tensor::is_floating(pooled.type)) return;
  if (!reduces_all_spatial(op->axes, pooled.shape.size())) return;
  if (op->keep_dims) {
    editor.node(index).op = graph::GlobalPool{*kind};
    return;
  }
  std::fill(pooled.shape.begin() + 2, pooled.shape.end(), 1);
  const graph::ValueId id = editor.graph().add_value(
      {node.name + ".pooled", pooled.type, std::move(pooled.shape), std::nullopt});
  editor.insert_before(index, {node.name, graph::GlobalPool{*kind}, node.inputs, {id}});
  editor.node(index).op = graph::Reshape{editor.value(node.outputs[0]).shape};
  editor.set_inputs(index, {id});
}

}  // namespace

Status canonicalise_arithmetic(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    binary_to_unary(editor, index);
    simplify_unary(editor, index);
    if (!editor.erased(index)) reduce_to_global_pool(editor, index);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
