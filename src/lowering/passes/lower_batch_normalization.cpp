#include <cmath>

#include "lowering/passes/constants.h"
#include "lowering/passes/edit.h"
#include "lowering/passes/passes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::ValueId;

// y = scale * (x - mean) / sqrt(variance + epsilon) + bias as a scale and shift per channel.
struct ScaleAndShift {
  std::vector<float> scale, shift;
};

std::optional<ScaleAndShift> scale_and_shift(const graph::Graph& graph, const Node& node,
                                             float epsilon) {
  const auto scale = floats_of(graph.values[node.inputs[1]]);
  const auto bias = floats_of(graph.values[node.inputs[2]]);
  const auto mean = floats_of(graph.values[node.inputs[3]]);
  const auto variance = floats_of(graph.values[node.inputs[4]]);
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  ScaleAndShift result;
  for (size_t c = 0; c < scale->size(); ++c) {
    const double factor = (*scale)[c] / std::sqrt(double{(*variance)[c]} + epsilon);
    result.scale.push_back(static_cast<float>(factor));
    result.shift.push_back(static_cast<float>((*bias)[c] - (*mean)[c] * factor));
  }
  return result;
}

// Returns [1, C, 1, ...] with the rank of `shape`.
graph::Dims channel_shape(const graph::Dims& shape) {
  graph::Dims result(shape.size(), 1);
  result[1] = shape[1];
  return result;
}

void lower(Editor& editor, Editor::Index index, const ScaleAndShift& constants) {
  const Node node = editor.node(index);
  graph::Graph& graph = editor.graph();
  const graph::Dims shape = channel_shape(graph.values[node.inputs[0]].shape);
  const ValueId scale = add_floats(graph, node.name + ".scale", shape, constants.scale);
  const ValueId shift = add_floats(graph, node.name + ".shift", shape, constants.shift);
  const ValueId scaled = editor.add_value_like(node.outputs[0], node.name + ".scaled");
  editor.insert_before(index, {node.name + ".mul",
                               graph::Binary{graph::BinaryKind::kMul},
                               {node.inputs[0], scale},
                               {scaled}});
  editor.node(index).op = graph::Binary{graph::BinaryKind::kAdd};
  editor.set_inputs(index, {scaled, shift});
}

}  // namespace

Status lower_batch_normalization(graph::Graph& graph, const PassContext& context) {
  Editor editor(graph);
  for (Editor::Index index : editor.nodes()) {
    const Node& node = editor.node(index);
    const auto* op = std::get_if<graph::BatchNormalization>(&node.op);
    if (op == nullptr) continue;
    const auto constants = scale_and_shift(graph, node, op->epsilon);
    if (constants && context.may_make(2 * constants->scale.size()))
      lower(editor, index, *constants);
  }
  editor.finish();
  return {};
}

}  // namespace millrace::lowering
