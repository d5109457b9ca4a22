#include "lowering/passes/constants.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::UnaryKind;
using graph::ValueId;

constexpr size_t kSlope = 4;

// Whether a function is cheap beside a Conv, and every device can apply it in the epilogue.
bool is_fusable(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::kRelu:
    case UnaryKind::kClip:
    case UnaryKind::kLeakyRelu:
    case UnaryKind::kElu:
    case UnaryKind::kSigmoid:
    case UnaryKind::kTanh:
    case UnaryKind::kHardSigmoid:
    case UnaryKind::kHardSwish:
    case UnaryKind::kSwish:
    case UnaryKind::kGelu:
      return true;
    default:
      return false;
  }
}

// The activation of a Conv or MatMul; null for other operators.
graph::Activation* activation_of(Node& node) {
  if (auto* conv = std::get_if<graph::Conv>(&node.op)) return &conv->activation;
  if (auto* matmul = std::get_if<graph::MatMul>(&node.op)) return &matmul->activation;
  return nullptr;
}

// Returns the producer of `id` if an activation can be fused into it: it is a Conv or MatMul
// without activation and slope, and nothing else reads its result.
std::optional<Editor::Index> open_producer(Editor& editor, ValueId id) {
  const auto index = editor.maker(id);
  if (!index || !editor.has_single_reader(id)) return std::nullopt;
  const graph::Activation* activation = activation_of(editor.node(*index));
  const bool open = activation != nullptr && activation->kind == UnaryKind::kIdentity &&
                    editor.node(*index).input(kSlope) == kNoValue;
  return open ? index : std::nullopt;
}

void fuse_function(Editor& editor, Editor::Index index, const graph::Activation& function) {
  if (!is_fusable(function.kind)) return;
  const auto producer = open_producer(editor, editor.node(index).inputs[0]);
  if (!producer) return;
  Node fused = editor.node(*producer);
  *activation_of(fused) = function;
  editor.fuse(*producer, index, std::move(fused));
}

void fuse_prelu(Editor& editor, Editor::Index index, const PassContext& context) {
  const Node& node = editor.node(index);
  const graph::Dims shape = editor.value(node.outputs[0]).shape;
  const auto producer = open_producer(editor, node.inputs[0]);
  if (!producer || !std::holds_alternative<graph::Conv>(editor.node(*producer).op)) return;
  auto slope = channel_values(editor.value(node.inputs[1]), shape, 1);
  if (!slope || !context.may_make(static_cast<size_t>(shape[1]))) return;
  if (slope->size() == 1) slope->assign(static_cast<size_t>(shape[1]), slope->front());
  Node fused = editor.node(*producer);
  fused.inputs.resize(kSlope, ValueId{kNoValue});
  fused.inputs.push_back(add_floats(editor.graph(), node.name + ".slope", {shape[1]}, *slope));
  editor.fuse(*producer, index, std::move(fused));
}

}  // namespace

Status fuse_activation(graph::Graph& graph, const PassContext& context) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const Node& node = editor.node(index);
    if (const auto* unary = std::get_if<graph::Unary>(&node.op)) {
      fuse_function(editor, index, unary->function);
    } else if (const auto* binary = std::get_if<graph::Binary>(&node.op)) {
      if (binary->kind == graph::BinaryKind::kPrelu) fuse_prelu(editor, index, context);
    }
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
