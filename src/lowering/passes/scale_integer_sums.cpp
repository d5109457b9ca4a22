// In graph order, a Mul of cast integer sums is fused first, which makes the operator with a scale,
// and an Add of its result after it, which gives that its bias. All results in between must have a
// single reader, and scale and bias must be scalars or vectors along the channel.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using tensor::DataType;

// The operand indices of scale and bias in the fused operators.
constexpr size_t kScale = 4, kBias = 5;

struct Names {
  std::string_view sums, scaled;
};
constexpr Names kNames[] = {{"ConvInteger", "millrace.ConvIntegerToFloat"},
                            {"MatMulInteger", "millrace.MatMulIntegerToFloat"}};

// Returns the names for a node that computes integer sums; null for other nodes.
const Names* names_of(const Node& node) {
  const auto* op = std::get_if<graph::Fallback>(&node.op);
  if (op == nullptr) return nullptr;
  const auto* names = std::ranges::find(kNames, op->name, &Names::sums);
  return names == std::end(kNames) ? nullptr : names;
}

bool is_scaled(const Node& node) {
  const auto* op = std::get_if<graph::Fallback>(&node.op);
  return op != nullptr && std::ranges::find(kNames, op->name, &Names::scaled) != std::end(kNames);
}

// Whether the value is FLOAT32 and broadcasts to `shape` as a scalar, or with one element per
// channel.
bool is_per_channel(const graph::Value& value, const Dims& shape, size_t channel) {
  if (value.type != DataType::kFloat32 || value.shape.size() > shape.size()) return false;
  const size_t missing = shape.size() - value.shape.size();
  for (size_t d = 0; d < value.shape.size(); ++d)
    if (value.shape[d] != 1 && (d + missing != channel || value.shape[d] != shape[channel]))
      return false;
  return true;
}

// The channel is dimension 1 for a convolution, and the last dimension (columns) for a product.
size_t channel_of(const Node& node, const Dims& shape) {
  return std::get<graph::Fallback>(node.op).name.find("Conv") != std::string::npos
             ? 1
             : shape.size() - 1;
}

// Returns the operand of a Mul or Add (`kind`) other than `x`, if it is a scalar or has one element
// per channel of `x`; kNoValue otherwise.
ValueId parameter_of(Editor& editor, const Node& node, graph::BinaryKind kind, ValueId x,
                     size_t channel) {
  const auto* op = std::get_if<graph::Binary>(&node.op);
  if (op == nullptr || op->kind != kind || node.inputs[0] == node.inputs[1]) return kNoValue;
  const ValueId other = node.inputs[node.inputs[0] == x ? 1 : 0];
  const Dims& shape = editor.value(x).shape;
  const bool fits = editor.value(node.outputs[0]).shape == shape &&
                    is_per_channel(editor.value(other), shape, channel);
  return fits ? other : ValueId{kNoValue};
}

// Returns a node that makes an operand of `node` which nothing else reads, and for which `wanted`
// holds.
template <class Wanted>
std::optional<Editor::Index> producer_of(Editor& editor, const Node& node, Wanted&& wanted) {
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || !editor.has_single_reader(id)) continue;
    const auto index = editor.maker(id);
    if (index && wanted(editor.node(*index))) return index;
  }
  return std::nullopt;
}

// Whether the node is a Cast to FLOAT32 of integer sums that nothing else reads.
bool is_cast_of_sums(Editor& editor, const Node& node) {
  const auto* cast = std::get_if<graph::Cast>(&node.op);
  if (cast == nullptr || cast->to != DataType::kFloat32) return false;
  return producer_of(editor, node, [](const Node& n) { return names_of(n) != nullptr; })
      .has_value();
}

// Fuses the Mul at `index` with the Cast and the integer sums before it.
void fuse_scale(Editor& editor, Editor::Index index) {
  const Node mul = editor.node(index);
  const auto cast =
      producer_of(editor, mul, [&](const Node& n) { return is_cast_of_sums(editor, n); });
  if (!cast) return;
  const Editor::Index product = *editor.maker(editor.node(*cast).inputs[0]);
  Node scaled = editor.node(product);
  const ValueId x = editor.node(*cast).outputs[0];
  const size_t channel = channel_of(scaled, editor.value(x).shape);
  const ValueId scale = parameter_of(editor, mul, graph::BinaryKind::kMul, x, channel);
  if (scale == kNoValue) return;
  auto& op = std::get<graph::Fallback>(scaled.op);
  op.name = names_of(editor.node(product))->scaled;
  scaled.inputs.resize(kScale, ValueId{kNoValue});
  scaled.inputs.push_back(scale);
  scaled.outputs = mul.outputs;
  editor.absorb_origins(*cast, product);
  editor.fuse(*cast, index, std::move(scaled));
}

// Fuses the Add at `index` into the scaled sums before it.
void fuse_bias(Editor& editor, Editor::Index index) {
  const Node add = editor.node(index);
  const auto product = producer_of(
      editor, add, [](const Node& n) { return is_scaled(n) && n.input(kBias) == kNoValue; });
  if (!product) return;
  Node biased = editor.node(*product);
  const ValueId x = biased.outputs[0];
  const ValueId bias = parameter_of(editor, add, graph::BinaryKind::kAdd, x,
                                    channel_of(biased, editor.value(x).shape));
  if (bias == kNoValue) return;
  biased.inputs.resize(kBias, ValueId{kNoValue});
  biased.inputs.push_back(bias);
  biased.outputs = add.outputs;
  editor.fuse(*product, index, std::move(biased));
}

}  // namespace

Status scale_integer_sums(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    if (editor.erased(index) || !std::holds_alternative<graph::Binary>(editor.node(index).op))
      continue;
    const bool is_sum =
        std::get<graph::Binary>(editor.node(index).op).kind == graph::BinaryKind::kAdd;
    is_sum ? fuse_bias(editor, index) : fuse_scale(editor, index);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
