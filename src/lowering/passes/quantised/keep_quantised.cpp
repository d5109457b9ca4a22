// Two walks over the graph. StoreResults goes backwards: a FLOAT32 result that all readers quantise
// in the same way is stored as these integers. ReadIntegers goes forwards: operators read a
// quantised value directly instead of its dequantised copy, and data movement passes integers on.
// Requantise nodes that have become no-ops are removed.
#include <algorithm>
#include <vector>

#include "lowering/passes/passes.h"
#include "lowering/passes/quantised/quantise_before_clips.h"
#include "lowering/passes/quantised/quantised_nodes.h"

namespace millrace::lowering {
namespace {

using graph::Node;
using graph::Value;
using graph::ValueId;

bool is_requantise(const Node& node) {
  return std::holds_alternative<graph::Requantise>(node.op);
}

// Whether the value is stored as FLOAT32.
bool is_number(const Value& value) {
  return value.type == tensor::DataType::kFloat32 && !value.quantisation;
}

// Stores results that are only read as integers of one form as these integers. It goes backwards,
// so that the form of a moved result is decided before that of the operand.
class StoreResults {
 public:
  explicit StoreResults(graph::Graph& graph) : editor_(graph), readers_(consumers_of(graph)) {}

  void run() {
    auto nodes = editor_.nodes();
    std::ranges::reverse(nodes);
    for (const Editor::Index index : nodes) {
      const Node& node = editor_.node(index);
      if (graph::computes_numbers(node.op) && !is_requantise(node)) store(index);
    }
    editor_.finish();
  }

 private:
  void store(Editor::Index index) {
    const ValueId result = editor_.node(index).outputs[0];
    if (!is_number(editor_.value(result)) || editor_.is_graph_output(result)) return;
    const Value* form = wanted_form(result);
    if (form == nullptr) return;
    editor_.graph().values[result].type = form->type;
    editor_.graph().values[result].quantisation = form->quantisation;
    for (const Editor::Index reader : readers_[result]) {
      if (!is_requantise(editor_.node(reader))) continue;
      editor_.absorb_origins(index, reader);
      take_name(result, editor_.node(reader).outputs[0]);
      editor_.bypass(reader);
    }
  }

  // The stored value gets the name that the integers have in the model. The value of the
  // Requantise, which is removed, takes the name of the unrounded result.
  void take_name(ValueId stored, ValueId integers) {
    std::vector<Value>& values = editor_.graph().values;
    if (!editor_.is_graph_output(integers)) std::swap(values[stored].name, values[integers].name);
  }

  // Returns the form (type and quantisation) into which all readers convert the value; null if
  // there is no such form.
  const Value* wanted_form(ValueId id) {
    const Value* form = nullptr;
    for (const Editor::Index reader : readers_[id]) {
      const Node& node = editor_.node(reader);
      const Value& output = editor_.value(node.outputs[0]);
      const bool wants_integers = (is_requantise(node) && output.quantisation) ||
                                  (only_moves(node.op) && is_plainly_quantised(output));
      if (!wants_integers) return nullptr;
      if (form != nullptr && !have_same_quantisation(*form, output)) return nullptr;
      form = &output;
    }
    return form;
  }

  Editor editor_;
  // The readers in the original graph. They change only for values that have been stored.
  const std::vector<std::vector<uint32_t>> readers_;
};

// Makes operators read quantised values directly, and data movement pass integers on.
class ReadIntegers {
 public:
  explicit ReadIntegers(graph::Graph& graph) : editor_(graph) {}

  void run() {
    for (const Editor::Index index : editor_.nodes()) {
      if (!graph::computes_numbers(editor_.node(index).op)) continue;
      read_sources(index);
      if (is_requantise(editor_.node(index)))
        drop_if_same(index);
      else if (only_moves(editor_.node(index).op))
        move_integers(index);
    }
    editor_.finish();
  }

 private:
  void read_sources(Editor::Index index) {
    std::vector<ValueId> inputs = editor_.node(index).inputs;
    for (ValueId& id : inputs) {
      const ValueId source = quantised_source(editor_, id);
      if (source != graph::kNoValue) id = source;
    }
    editor_.set_inputs(index, std::move(inputs));
  }

  void drop_if_same(Editor::Index index) {
    const Node& node = editor_.node(index);
    if (have_same_quantisation(editor_.value(node.inputs[0]), editor_.value(node.outputs[0])))
      editor_.bypass(index);
  }

  // Turns move(dequantise(q)) into dequantise(move(q)), so that later readers can read the integers
  // of move(q).
  void move_integers(Editor::Index index) {
    const Node node = editor_.node(index);
    const Value result = editor_.value(node.outputs[0]);
    const auto quantisation = moved_quantisation(node.op, editor_.value(node.inputs[0]));
    if (!is_number(result) || !quantisation || !have_one_form(node)) return;
    const ValueId moved =
        editor_.graph().add_value({result.name + ".quantised", editor_.value(node.inputs[0]).type,
                                   result.shape, std::nullopt, quantisation});
    editor_.insert_before(index, {node.name, node.op, node.inputs, {moved}});
    editor_.node(index).op = graph::Requantise{};
    editor_.set_inputs(index, {moved});
  }

  bool have_one_form(const Node& node) const {
    const auto moved = std::span(node.inputs).first(moved_operands(node));
    return std::ranges::all_of(moved, [&](ValueId id) {
      return have_same_quantisation(editor_.value(moved[0]), editor_.value(id));
    });
  }

  Editor editor_;
};

}  // namespace

Status keep_quantised(graph::Graph& graph, const PassContext& context) {
  if (context.as_written) return {};
  quantise_before_clips(graph);
  StoreResults(graph).run();
  ReadIntegers(graph).run();
  return {};
}

}  // namespace millrace::lowering
