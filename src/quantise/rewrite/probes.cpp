#include "quantise/rewrite/probes.h"

#include <algorithm>
#include <utility>

namespace millrace::quantise {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueId;

class Prober {
 public:
  Prober(const Graph& source, const Quantised& quantised) : source_(source), quantised_(quantised) {
    Graph& graph = probed_.graph;
    graph.values = source.values;
    graph.inputs = source.inputs;
  }

  ProbedGraph probe() {
    for (const ValueId id : source_.inputs)
      if (quantised_.selection.values[id]) add_input(id);
    for (size_t i = 0; i < source_.nodes.size(); ++i) {
      probed_.graph.nodes.push_back(source_.nodes[i]);
      if (quantised_.selection.nodes[i]) add_node(i);
    }
    return std::move(probed_);
  }

 private:
  // Adds a node `op` that reads `from`, and its FLOAT32 result with the shape of `exact_`.
  ValueId add_step(ValueId from, const std::string& name, graph::Operator op) {
    const Value& value = source_.values[from < source_.values.size() ? from : exact_];
    const ValueId made = probed_.graph.add_value({name, value.type, value.shape, std::nullopt});
    probed_.graph.nodes.push_back({name, std::move(op), {from}, {made}});
    return made;
  }

  void add_input(ValueId id) {
    exact_ = id;
    const std::string& name = source_.values[id].name;
    // A graph output must be made by a node, so the exact result is a copy of the input.
    const ValueId copy = add_step(id, name + "_copy", graph::Unary{});
    add({std::nullopt, id, copy, stored(id)});
  }

  void add_node(size_t index) {
    exact_ = source_.nodes[index].outputs[0];
    Node copy = with_quantised_weights(probed_.graph, source_.nodes[index], quantised_);
    const Value& value = source_.values[exact_];
    const ValueId made =
        probed_.graph.add_value({value.name + "_probe", value.type, value.shape, std::nullopt});
    copy.name += "/probe";
    copy.outputs = {made};
    probed_.graph.nodes.push_back(std::move(copy));
    add({index, std::nullopt, exact_, quantised_.selection.values[exact_] ? stored(made) : made});
  }

  // Adds a pair of nodes that quantise `from` to the encoding of `exact_` and dequantise it.
  // Returns the result.
  ValueId stored(ValueId from) {
    const ValueId integers = add_quantised(probed_.graph, from, *quantised_.encodings[exact_]);
    const std::string name = probed_.graph.values[integers].name + "/numbers";
    return add_step(integers, name, graph::Requantise{});
  }

  void add(const Probe& probe) {
    probed_.probes.push_back(probe);
    for (const ValueId id : {probe.exact, probe.rounded})
      if (std::ranges::find(probed_.graph.outputs, id) == probed_.graph.outputs.end())
        probed_.graph.outputs.push_back(id);
  }

  const Graph& source_;
  const Quantised& quantised_;
  ValueId exact_ = graph::kNoValue;  // the exact result of the layer that is being added
  ProbedGraph probed_;
};

}  // namespace

ProbedGraph probe_layers(const Graph& graph, const Quantised& quantised) {
  return Prober(graph, quantised).probe();
}

}  // namespace millrace::quantise
