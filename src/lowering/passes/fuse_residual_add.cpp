#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Operands of a Conv.
constexpr size_t kResidual = 3, kSlopeOfPRelu = 4;

bool is_add(const Node& node) {
  const auto* op = std::get_if<graph::Binary>(&node.op);
  return op != nullptr && op->kind == graph::BinaryKind::kAdd;
}

// Whether the Conv that makes `result` can add `other` to it, with `sum` as its new result.
bool can_take_residual(Editor& editor, ValueId result, ValueId other, ValueId sum) {
  const auto* conv = editor.maker_as<graph::Conv>(result);
  if (conv == nullptr || conv->activation.kind != graph::UnaryKind::kIdentity) return false;
  const Node& node = editor.node(*editor.maker(result));
  if (node.input(kResidual) != kNoValue || node.input(kSlopeOfPRelu) != kNoValue) return false;
  const graph::Value& residual = editor.value(other);
  return editor.has_single_reader(result) && !residual.constant &&
         residual.shape == editor.value(result).shape && residual.shape == editor.value(sum).shape;
}

// Returns the operand of the Add whose Conv takes the residual. If both are candidates it is the
// later Conv, which moves least when it takes the place of the Add.
std::optional<size_t> choose_conv(Editor& editor, const Node& add) {
  const ValueId a = add.inputs[0], b = add.inputs[1], sum = add.outputs[0];
  const bool first = can_take_residual(editor, a, b, sum);
  const bool second = can_take_residual(editor, b, a, sum);
  if (first && second) return *editor.maker(a) > *editor.maker(b) ? 0 : 1;
  if (first) return 0;
  if (second) return 1;
  return std::nullopt;
}

}  // namespace

Status fuse_residual_add(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const Node add = editor.node(index);
    if (!is_add(add)) continue;
    const auto slot = choose_conv(editor, add);
    if (!slot) continue;
    const Editor::Index producer = *editor.maker(add.inputs[*slot]);
    // The Conv takes the place of the Add: at its own place the residual may not exist yet.
    Node fused = editor.node(producer);
    // By value, since resize() takes a reference, for which kNoValue would have to be exported.
    fused.inputs.resize(kResidual, ValueId{kNoValue});
    fused.inputs.push_back(add.inputs[1 - *slot]);
    editor.fuse(producer, index, std::move(fused));
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
