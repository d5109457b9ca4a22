// Among the values that are stored as integers, one that a quantised node makes is replaced by its
// dequantised value for all readers. One that a floating point node makes, and an input, gets a
// dequantised copy that only quantised nodes read.
#include "quantise/rewrite/insert_requantise.h"

#include <algorithm>
#include <utility>

#include "quantise/rewrite/value_like.h"
#include "quantise/rewrite/weights.h"

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

// Builds the result node by node, in the order of the source. The values of the source keep their
// ids; new values follow them.
class Inserter {
 public:
  Inserter(const Graph& source, const Quantised& quantised)
      : source_(source), quantised_(quantised), read_(source.values.size()) {
    result_.values = source.values;
    result_.inputs = source.inputs;
    result_.outputs = source.outputs;
    for (ValueId id = 0; id < read_.size(); ++id) read_[id] = {id, id};
  }

  Graph insert() {
    for (const ValueId id : source_.inputs)
      if (quantised_.selection.values[id]) read_[id].by_quantised = add_pair(id, id);
    for (size_t i = 0; i < source_.nodes.size(); ++i) add_node(i);
    return std::move(result_);
  }

 private:
  // The values of the result that floating point and quantised nodes read in place of a value of
  // the source. If a floating point node makes it, other such nodes read it without quantisation.
  struct Read {
    ValueId by_floating = kNoValue;
    ValueId by_quantised = kNoValue;
  };

  void add_node(size_t index) {
    const bool computes_quantised = quantised_.selection.nodes[index];
    Node node = computes_quantised
                    ? with_quantised_weights(result_, source_.nodes[index], quantised_)
                    : source_.nodes[index];
    for (ValueId& id : node.inputs)
      if (id < read_.size())  // neither absent nor a new constant
        id = computes_quantised ? read_[id].by_quantised : read_[id].by_floating;
    // An output of the graph is the dequantised value, and keeps its id and name. So the node
    // writes to a new value, which the pair reads.
    const std::vector<ValueId> made = node.outputs;
    for (ValueId& id : node.outputs)
      if (computes_quantised && quantised_.selection.values[id] && is_output(id))
        id = add_value_like(result_, id, "_unquantised");
    const std::vector<ValueId> outputs = node.outputs;
    result_.nodes.push_back(std::move(node));
    for (size_t i = 0; i < made.size(); ++i)
      if (quantised_.selection.values[made[i]]) add_reads(made[i], outputs[i], computes_quantised);
  }

  // Quantises `value`, which a node makes as `made`, for its readers.
  void add_reads(ValueId value, ValueId made, bool computes_quantised) {
    read_[value].by_quantised = add_pair(value, made);
    if (computes_quantised) read_[value].by_floating = read_[value].by_quantised;
  }

  // Adds a pair of Requantise that reads `made`, and returns the dequantised value: `value` if no
  // node writes it yet, otherwise a new one.
  ValueId add_pair(ValueId value, ValueId made) {
    const ValueId integers = add_quantised(result_, made, *quantised_.encodings[value]);
    result_.values[integers].name = quantised_name(source_.values[value].name);
    const ValueId floats = value == made ? add_value_like(result_, value, "_dequantised") : value;
    const std::string& name = result_.values[integers].name;
    result_.nodes.push_back({name + "/dequantise", graph::Requantise{}, {integers}, {floats}});
    return floats;
  }

  bool is_output(ValueId id) const {
    return std::ranges::find(source_.outputs, id) != source_.outputs.end();
  }

  const Graph& source_;
  const Quantised& quantised_;
  std::vector<Read> read_;  // by value of the source
  Graph result_;
};

}  // namespace

std::string quantised_name(const std::string& name) {
  return name + "_quantised";
}

Graph insert_requantise(const Graph& graph, const Quantised& quantised) {
  return Inserter(graph, quantised).insert();
}

Node with_quantised_weights(Graph& graph, const Node& node, const Quantised& quantised) {
  Node changed = node;
  if (!is_conv_or_matmul(node)) return changed;
  const ValueId operand = node.inputs[0];
  const bool is_known = operand < quantised.calibration.size() && quantised.calibration[operand];
  quantise_weights(graph, changed, *quantised.encodings[operand],
                   is_known ? &*quantised.calibration[operand] : nullptr);
  return changed;
}

ValueId add_quantised(Graph& graph, ValueId from, const Encoding& encoding) {
  const Value& value = graph.values[from];
  const std::string name = quantised_name(value.name);
  const ValueId integers =
      graph.add_value({name, encoding.type, value.shape, std::nullopt, encoding.quantisation});
  graph.nodes.push_back({name, graph::Requantise{}, {from}, {integers}});
  return integers;
}

}  // namespace millrace::quantise
