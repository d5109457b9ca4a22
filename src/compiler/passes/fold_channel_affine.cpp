#include <algorithm>
#include <cmath>

#include "compiler/passes/constants.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/passes.h"

namespace millrace::compiler {
namespace {

using graph::BinaryKind;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Numbers = std::vector<float>;

// scale * x + shift, each one number, or one per channel; empty stands for 1 and 0.
struct Affine {
  Numbers scale, shift;
};

float at(const Numbers& numbers, size_t channel, float otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers.size() == 1 ? numbers[0] : numbers[channel];
}

Numbers mapped(Numbers numbers, float (*function)(float)) {
  std::ranges::transform(numbers, numbers.begin(), function);
  return numbers;
}

std::optional<Affine> affine_of_binary(BinaryKind kind, Numbers numbers, bool x_is_first) {
  switch (kind) {
    case BinaryKind::kAdd:
      return Affine{{}, std::move(numbers)};
    case BinaryKind::kMul:
      return Affine{std::move(numbers), {}};
    case BinaryKind::kSub:
      if (x_is_first) return Affine{{}, mapped(std::move(numbers), [](float n) { return -n; })};
      return Affine{{-1}, std::move(numbers)};
    case BinaryKind::kDiv: {
      const auto invertible = [](float n) { return std::isnormal(n) && std::isnormal(1 / n); };
      if (!x_is_first || !std::ranges::all_of(numbers, invertible)) return std::nullopt;
      return Affine{mapped(std::move(numbers), [](float n) { return 1 / n; }), {}};
    }
    default:
      return std::nullopt;
  }
}

// A node as an affine function of one operand.
struct Match {
  ValueId source = kNoValue;
  Affine affine;
};

// `channel` is the dimension of the output along which the numbers may vary.
std::optional<Match> match_binary(const Editor& editor, const Node& node, BinaryKind kind,
                                  size_t channel) {
  const graph::Dims& shape = editor.value(node.outputs[0]).shape;
  for (size_t slot : {0, 1}) {
    if (editor.value(node.inputs[slot]).shape != shape) continue;
    auto numbers = channel_values(editor.value(node.inputs[1 - slot]), shape, channel);
    if (!numbers) continue;
    auto affine = affine_of_binary(kind, *std::move(numbers), slot == 0);
    if (affine) return Match{node.inputs[slot], *std::move(affine)};
  }
  return std::nullopt;
}

std::optional<Match> match_affine(const Editor& editor, const Node& node, size_t channel) {
  if (const auto* binary = std::get_if<graph::Binary>(&node.op)) {
    return match_binary(editor, node, binary->kind, channel);
  }
  const auto* unary = std::get_if<graph::Unary>(&node.op);
  if (unary == nullptr || unary->function.kind != graph::UnaryKind::kLinear) return std::nullopt;
  Affine affine;
  if (unary->function.alpha != 1) affine.scale = {unary->function.alpha};
  if (unary->function.beta != 0) affine.shift = {unary->function.beta};
  return Match{node.inputs[0], std::move(affine)};
}

// The weight with `scale` applied along one of its dimensions; the same weight where there is none.
std::optional<ValueId> scaled_weight(Editor& editor, const Node& node, size_t dimension,
                                     const Numbers& scale) {
  const ValueId id = node.inputs[1];
  if (scale.empty()) return id;
  const auto weight = floats_of(editor.value(id));
  if (!weight) return std::nullopt;
  const graph::Dims shape = editor.value(id).shape;
  size_t inner = 1;
  for (size_t i = dimension + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  const auto channels = static_cast<size_t>(shape[dimension]);
  Numbers scaled(weight->begin(), weight->end());
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= at(scale, i / inner % channels, 1);
  return add_floats(editor.graph(), editor.value(id).name + ".scaled", shape, scaled);
}

// scale * bias + shift, of `channels` elements; kNoValue where there is neither bias nor shift, and
// nothing where the bias is no constant per channel.
std::optional<ValueId> adjusted_bias(Editor& editor, const Node& node, size_t channels,
                                     const Affine& affine) {
  const ValueId id = node.input(2);
  if (id == kNoValue && affine.shift.empty()) return kNoValue;
  Numbers bias(1, 0.0f);
  if (id != kNoValue) {
    const graph::Dims& shape = editor.value(node.outputs[0]).shape;
    // A Conv's bias is a vector of its channels, a MatMul's is broadcast along the last dimension.
    const auto numbers = std::holds_alternative<graph::Conv>(node.op)
                             ? channel_values(editor.value(id), {static_cast<int64_t>(channels)}, 0)
                             : channel_values(editor.value(id), shape, shape.size() - 1);
    if (!numbers) return std::nullopt;
    bias = *numbers;
  }
  Numbers adjusted(channels);
  for (size_t c = 0; c < channels; ++c) {
    adjusted[c] = at(affine.scale, c, 1) * at(bias, c, 0) + at(affine.shift, c, 0);
  }
  return add_floats(editor.graph(), node.name + ".bias", {static_cast<int64_t>(channels)},
                    adjusted);
}

// The node with the affine function in its operands.
std::optional<Node> with_affine(Editor& editor, const Node& node, const Affine& affine,
                                size_t weight_dimension, size_t channels) {
  const auto bias = adjusted_bias(editor, node, channels, affine);
  if (!bias) return std::nullopt;
  const auto weight = scaled_weight(editor, node, weight_dimension, affine.scale);
  if (!weight) return std::nullopt;
  Node result = node;
  result.inputs = {node.inputs[0], *weight};
  if (*bias != kNoValue) result.inputs.push_back(*bias);
  return result;
}

std::optional<Node> fold(Editor& editor, const graph::Conv& conv, const Node& node,
                         const Affine& affine) {
  const bool plain = conv.activation.kind == graph::UnaryKind::kIdentity &&
                     node.input(3) == kNoValue && node.input(4) == kNoValue;
  if (!plain) return std::nullopt;
  const auto channels = static_cast<size_t>(editor.value(node.outputs[0]).shape[1]);
  return with_affine(editor, node, affine, 0, channels);
}

std::optional<Node> fold(Editor& editor, const graph::MatMul& matmul, const Node& node,
                         const Affine& affine) {
  if (matmul.activation.kind != graph::UnaryKind::kIdentity) return std::nullopt;
  const graph::Value& b = editor.value(node.inputs[1]);
  if (!b.constant && affine.scale.size() == 1 && affine.shift.empty() &&
      node.input(2) == kNoValue) {
    Node scaled = node;
    std::get<graph::MatMul>(scaled.op).alpha *= affine.scale[0];
    return scaled;
  }
  if (b.shape.size() < 2) return std::nullopt;
  const size_t columns = b.shape.size() - (matmul.transpose_b ? 2 : 1);
  return with_affine(editor, node, affine, columns, static_cast<size_t>(b.shape[columns]));
}

template <class Op>
std::optional<Node> fold(Editor&, const Op&, const Node&, const Affine&) {
  return std::nullopt;
}

// Tries to fold `index`, read along dimension `channel`, into a producer that is an Op.
template <class Op>
bool fold_into(Editor& editor, Editor::Index index, size_t channel) {
  const auto match = match_affine(editor, editor.node(index), channel);
  if (!match || !editor.has_single_reader(match->source)) return false;
  const Op* op = editor.maker_as<Op>(match->source);
  if (op == nullptr) return false;
  const Editor::Index producer = *editor.maker(match->source);
  auto fused = fold(editor, *op, editor.node(producer), match->affine);
  if (!fused) return false;
  editor.fuse(producer, index, *std::move(fused));
  return true;
}

}  // namespace

Status fold_channel_affine(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const size_t rank = editor.value(editor.node(index).outputs[0]).shape.size();
    if (rank == 0) continue;
    if (rank >= 3 && fold_into<graph::Conv>(editor, index, 1)) continue;
    fold_into<graph::MatMul>(editor, index, rank - 1);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::compiler
