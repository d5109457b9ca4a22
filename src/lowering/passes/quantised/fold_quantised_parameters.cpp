#include <utility>
#include <vector>

#include "lowering/evaluate/evaluate.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::ValueId;

// Whether the operator takes this operand as FLOAT32 parameters, and has no kernel that reads
// integers there.
bool is_parameter(const Node& node, size_t operand) {
  if (std::holds_alternative<graph::BatchNormalization>(node.op)) return operand > 0;
  const auto* binary = std::get_if<graph::Binary>(&node.op);
  return binary != nullptr && binary->kind == graph::BinaryKind::kPrelu && operand == 1;
}

// Returns the FLOAT32 constant for a dequantised constant; `id` for any other value.
Result<ValueId> folded(Editor& editor, ValueId id) {
  const ValueId source = quantised_source(editor, id);
  if (source == graph::kNoValue || !editor.value(source).constant) return id;
  const graph::Value* const integers = &editor.value(source);
  Result<graph::Value> numbers = evaluate(graph::Requantise{}, {&integers, 1});
  if (numbers.status().code() == StatusCode::kUnsupported) return id;
  MILLRACE_RETURN_IF_ERROR(numbers.status());
  numbers->name = editor.value(id).name + ".numbers";
  return editor.graph().add_value(*std::move(numbers));
}

}  // namespace

Status fold_quantised_parameters(graph::Graph& graph, const PassContext&) {
  Editor editor(graph);
  for (const Editor::Index index : editor.nodes()) {
    std::vector<ValueId> inputs = editor.node(index).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!is_parameter(editor.node(index), i)) continue;
      MILLRACE_ASSIGN_OR_RETURN(inputs[i], folded(editor, inputs[i]));
    }
    if (inputs != editor.node(index).inputs) editor.set_inputs(index, std::move(inputs));
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
