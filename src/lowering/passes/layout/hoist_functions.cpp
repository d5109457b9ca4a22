#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::ValueId;

bool is_move(const Node& node) {
  return std::holds_alternative<graph::Reshape>(node.op) ||
         std::holds_alternative<graph::Transpose>(node.op);
}

// Returns the first node of the chain of Reshapes and Transposes that makes `id`, if all their
// results have a single reader; nothing if there is no such chain.
std::optional<Editor::Index> first_move(Editor& editor, ValueId id) {
  std::optional<Editor::Index> first;
  while (editor.has_single_reader(id)) {
    const auto maker = editor.maker(id);
    if (!maker || !is_move(editor.node(*maker))) break;
    first = maker;
    id = editor.node(*maker).inputs[0];
  }
  return first;
}

// Whether fuse_activation may fuse a function of this value into the node that makes it.
bool can_have_activation(Editor& editor, ValueId id) {
  return editor.has_single_reader(id) && (editor.maker_as<graph::Conv>(id) != nullptr ||
                                          editor.maker_as<graph::MatMul>(id) != nullptr);
}

void hoist(Editor& editor, Editor::Index index) {
  const Node node = editor.node(index);
  if (!std::holds_alternative<graph::Unary>(node.op)) return;
  const auto move = first_move(editor, node.inputs[0]);
  if (!move) return;
  const ValueId source = editor.node(*move).inputs[0];
  if (!can_have_activation(editor, source)) return;
  const ValueId result = editor.add_value_like(source, node.name + ".hoisted");
  editor.insert_before(*move, {node.name, node.op, {source}, {result}});
  editor.set_inputs(*move, {result});
  editor.bypass(index);
}

}  // namespace

Status hoist_functions(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) hoist(editor, index);
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
