// y = scale * x + shift per channel after a Conv or MatMul: with W the weight and b the bias, the
// producer gets scale * W and scale * b + shift, and the affine node is removed. That requires that
// the result of the producer has no other reader, and that the producer has no activation, residual
// or slope. Remaining functions per channel of images become 1x1 depthwise Convs.
#include <algorithm>

#include "lowering/passes/channel_affine.h"
#include "lowering/passes/constants.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Returns the weight multiplied by `scale` along one of its dimensions: the same value if `scale`
// is empty, nothing if the weight is no constant.
std::optional<ValueId> scaled_weight(Editor& editor, const Node& node, size_t dimension,
                                     const Numbers& scale) {
  const ValueId id = node.inputs[1];
  if (scale.empty()) return id;
  const auto weight = floats_of(editor.value(id));
  if (!weight) return std::nullopt;
  const Dims shape = editor.value(id).shape;
  size_t inner = 1;
  for (size_t i = dimension + 1; i < shape.size(); ++i) inner *= static_cast<size_t>(shape[i]);
  const auto channels = static_cast<size_t>(shape[dimension]);
  Numbers scaled(weight->begin(), weight->end());
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= at(scale, i / inner % channels, 1);
  return add_floats(editor.graph(), editor.value(id).name + ".scaled", shape, scaled);
}

// Returns scale * bias + shift, of `channels` elements; kNoValue if there is neither bias nor
// shift, and nothing if the bias is no constant per channel.
std::optional<ValueId> adjusted_bias(Editor& editor, const Node& node, size_t channels,
                                     const Affine& affine) {
  const ValueId id = node.input(2);
  if (id == kNoValue && affine.shift.empty()) return kNoValue;
  Numbers bias(1, 0.0f);
  if (id != kNoValue) {
    const Dims& shape = editor.value(node.outputs[0]).shape;
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

// Returns the node with the affine function folded into its weight and bias; nothing if one of
// these prevents that.
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

// Returns whether the budget allows a new weight and bias. Twice the weight is an upper bound, also
// if the bias grows to one element per channel.
bool may_make_anew(Editor& editor, const std::vector<ValueId>& operands,
                   const PassContext& context) {
  const graph::Value& weight = editor.value(operands[1]);
  return !weight.constant || context.may_make(2 * weight.elements());
}

// Folds node `index`, as an affine function along dimension `channel`, into its producer if that is
// an Op. Returns whether it did.
template <class Op>
bool fold_into(Editor& editor, Editor::Index index, size_t channel, const PassContext& context) {
  const auto match = match_affine(editor, editor.node(index), channel);
  if (!match || !editor.has_single_reader(match->source)) return false;
  const Op* op = editor.maker_as<Op>(match->source);
  if (op == nullptr) return false;
  const Editor::Index producer = *editor.maker(match->source);
  const std::vector<ValueId> operands = editor.node(producer).inputs;
  if (!may_make_anew(editor, operands, context)) return false;
  auto fused = fold(editor, *op, editor.node(producer), match->affine);
  if (!fused) return false;
  editor.fuse(producer, index, *std::move(fused));
  for (const ValueId id : operands)
    if (id != kNoValue) editor.release_unread(id);
  return true;
}

// Turns an affine function per channel into a depthwise Conv with a 1x1 kernel. This is one node
// instead of Mul and Add, into which the following affine functions, residual and activation can be
// fused.
void make_depthwise_conv(Editor& editor, Editor::Index index, const PassContext& context) {
  const auto match = match_affine(editor, editor.node(index), 1);
  if (!match || editor.value(match->source).constant) return;
  const auto& [scale, shift] = match->affine;
  if (scale.size() <= 1 && shift.size() <= 1) return;  // a scalar stays a Unary
  const Dims shape = editor.value(match->source).shape;
  const auto channels = static_cast<size_t>(shape[1]);
  if (!context.may_make(2 * channels)) return;
  const Dims ones(shape.size() - 2, 1), zeros(shape.size() - 2, 0);
  Dims weight_shape(shape.size(), 1);
  weight_shape[0] = shape[1];
  Numbers weight(channels);
  for (size_t c = 0; c < channels; ++c) weight[c] = at(scale, c, 1);
  const std::string name = editor.node(index).name;
  std::vector<ValueId> inputs = {match->source,
                                 add_floats(editor.graph(), name + ".scale", weight_shape, weight)};
  if (!shift.empty()) {
    Numbers bias(channels);
    for (size_t c = 0; c < channels; ++c) bias[c] = at(shift, c, 0);
    inputs.push_back(add_floats(editor.graph(), name + ".shift", {shape[1]}, bias));
  }
  editor.node(index).op = graph::Conv{ones, ones, zeros, zeros, shape[1], {}};
  editor.set_inputs(index, std::move(inputs));
}

}  // namespace

Status fold_channel_affine(graph::Graph& graph, const PassContext& context) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const Dims shape = editor.value(editor.node(index).outputs[0]).shape;
    if (shape.empty()) continue;
    if (shape.size() >= 3 && fold_into<graph::Conv>(editor, index, 1, context)) continue;
    if (fold_into<graph::MatMul>(editor, index, shape.size() - 1, context)) continue;
    // In rank 3, the second dimension is more often a position than a channel. A dimension without
    // elements has no place for a window.
    if ((shape.size() == 4 || shape.size() == 5) && std::ranges::count(shape, 0) == 0)
      make_depthwise_conv(editor, index, context);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
