#include "lowering/passes/quantised/quantise_before_clips.h"

#include <algorithm>
#include <vector>

#include "lowering/passes/bounds.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::Value;
using graph::ValueId;

class Rewriter {
 public:
  explicit Rewriter(graph::Graph& graph) : editor_(graph), readers_(graph::consumers_of(graph)) {}

  void run() {
    for (const Editor::Index index : editor_.nodes()) {
      const auto* op = std::get_if<graph::Unary>(&editor_.node(index).op);
      const auto bounds = op != nullptr ? bounds_of(op->function) : std::nullopt;
      if (!bounds || !(bounds->low <= bounds->high) || !reads_result(index)) continue;
      if (const Value* form = wanted_form(index)) quantise_operand(index, *form);
    }
    editor_.finish();
  }

 private:
  // Whether the operand is the FLOAT32 result of an operator, and only this node reads it. The
  // result of a Requantise does not count: its integers exist already.
  bool reads_result(Editor::Index index) {
    const ValueId x = editor_.node(index).inputs[0];
    return editor_.maker(x) && editor_.maker_as<graph::Requantise>(x) == nullptr &&
           editor_.has_single_reader(x) && !editor_.value(x).quantisation &&
           graph::computes_numbers(editor_.node(*editor_.maker(x)).op);
  }

  // Returns the form with a single scale to which all readers quantise the result; null if there is
  // none.
  const Value* wanted_form(Editor::Index index) {
    const ValueId result = editor_.node(index).outputs[0];
    if (editor_.is_graph_output(result) || readers_[result].empty()) return nullptr;
    const Value* form = nullptr;
    for (const Editor::Index reader : readers_[result]) {
      const Node& node = editor_.node(reader);
      const Value& output = editor_.value(node.outputs[0]);
      if (!std::holds_alternative<graph::Requantise>(node.op) || !is_plainly_quantised(output) ||
          (form != nullptr && !have_same_quantisation(*form, output)))
        return nullptr;
      form = &output;
    }
    return form;
  }

  // Inserts a Requantise to the form, and one back to FLOAT32. Rounding preserves order, so
  // clipping the rounded value and rounding again gives the same integers as rounding the clipped
  // value.
  void quantise_operand(Editor::Index index, const Value& form) {
    const ValueId x = editor_.node(index).inputs[0];
    Value integers = form;
    integers.name = editor_.value(x).name + ".quantised";
    const ValueId quantised = editor_.graph().add_value(std::move(integers));
    const ValueId numbers = editor_.add_value_like(x, editor_.value(x).name + ".numbers");
    const std::string name = editor_.node(index).name;
    editor_.insert_before(index, {name, graph::Requantise{}, {x}, {quantised}});
    editor_.insert_before(index, {name, graph::Requantise{}, {quantised}, {numbers}});
    editor_.set_inputs(index, {numbers});
  }

  Editor editor_;
  // The readers in the original graph. The pass changes only operands.
  const std::vector<std::vector<uint32_t>> readers_;
};

}  // namespace

void quantise_before_clips(graph::Graph& graph) {
  Rewriter(graph).run();
}

}  // namespace millrace::lowering
