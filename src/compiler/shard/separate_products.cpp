#include "compiler/shard/separate_products.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/shard/hoist_slices.h"
#include "lowering/evaluate/evaluate.h"
#include "lowering/passes/edit.h"

namespace millrace::compiler {
namespace {

using graph::Dims;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using lowering::Editor;

// Whether the slice takes a contiguous range of the last dimension and all of the others.
bool is_columns(const graph::Slice& slice, const Dims& shape) {
  if (shape.empty() || slice.step.back() != 1) return false;
  return std::equal(shape.begin(), shape.end() - 1, slice.size.begin()) &&
         std::ranges::all_of(slice.step, [](int64_t step) { return step > 0; });
}

class Separation {
 public:
  explicit Separation(Graph& graph) : readers_(graph::consumers_of(graph)), editor_(graph) {}

  Status run() {
    for (const Editor::Index index : editor_.nodes())
      if (can_be_separated(index)) MILLRACE_RETURN_IF_ERROR(separate(index));
    editor_.finish();
    return {};
  }

 private:
  bool is_constant(ValueId id) const { return editor_.value(id).constant.has_value(); }

  bool can_be_separated(Editor::Index index) {
    const Node& node = editor_.node(index);
    if (!std::holds_alternative<graph::MatMul>(node.op)) return false;
    const ValueId bias = node.input(2), result = node.outputs[0];
    if (!is_constant(node.inputs[1]) || editor_.value(node.inputs[1]).shape.size() != 2)
      return false;
    if (editor_.value(node.inputs[0]).shape.size() < 2) return false;
    if (bias != kNoValue && (!is_constant(bias) || editor_.value(bias).shape.size() != 1))
      return false;
    const std::vector<uint32_t>& readers = readers_[result];
    return readers.size() > 1 && !editor_.is_graph_output(result) &&
           std::ranges::all_of(readers, [&](uint32_t reader) {
             const auto* slice = std::get_if<graph::Slice>(&editor_.node(reader).op);
             return slice != nullptr && is_columns(*slice, editor_.value(result).shape);
           });
  }

  Status separate(Editor::Index index) {
    const Node product = editor_.node(index);
    const auto& op = std::get<graph::MatMul>(product.op);
    for (const uint32_t reader : readers_[product.outputs[0]]) {
      const auto columns = std::get<graph::Slice>(editor_.node(reader).op);
      std::vector<ValueId> inputs = product.inputs;
      MILLRACE_ASSIGN_OR_RETURN(inputs[1],
                                columns_of(product.inputs[1], op.transpose_b ? 0 : 1, columns));
      if (product.input(2) != kNoValue && editor_.value(product.inputs[2]).shape[0] != 1) {
        MILLRACE_ASSIGN_OR_RETURN(inputs[2], columns_of(product.inputs[2], 0, columns));
      }
      editor_.node(reader).op = op;
      editor_.node(reader).name = product.name + ".columns." + std::to_string(columns.begin.back());
      editor_.set_inputs(reader, std::move(inputs));
      editor_.absorb_origins(reader, index);
    }
    return {};
  }

  // Adds a constant with the columns of another, which has them along `dimension`.
  Result<ValueId> columns_of(ValueId id, size_t dimension, const graph::Slice& columns) {
    const graph::Value& whole = editor_.value(id);
    graph::Slice slice{Dims(whole.shape.size()), whole.shape, Dims(whole.shape.size(), 1)};
    slice.begin[dimension] = columns.begin.back();
    slice.size[dimension] = columns.size.back();
    const graph::Value* const operand = &whole;
    MILLRACE_ASSIGN_OR_RETURN(graph::Value part, lowering::evaluate(slice, {&operand, 1}));
    part.name = whole.name + ".columns." + std::to_string(columns.begin.back());
    return editor_.graph().add_value(std::move(part));
  }

  const std::vector<std::vector<uint32_t>> readers_;  // by value, before any change
  Editor editor_;
};

}  // namespace

Status separate_products(Graph& graph) {
  hoist_slices(graph);
  return Separation(graph).run();
}

}  // namespace millrace::compiler
