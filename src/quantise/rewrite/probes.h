// Probes measure the error of each quantised layer alone: a graph that computes, beside each exact
// layer, a quantised copy of it from the same exact operands. One run then gives the errors of all
// layers, without those of the layers before them. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantise/rewrite/insert_requantise.h"

namespace millrace::quantise {

// One layer: a quantised node, or a graph input that is stored as integers. Either `node` or
// `input` has a value.
struct Probe {
  std::optional<size_t> node;                // its index in the source graph
  std::optional<graph::ValueId> input;       // its id in the source graph
  graph::ValueId exact = graph::kNoValue;    // in the probed graph: the floating point result,
  graph::ValueId rounded = graph::kNoValue;  // and the quantised layer's result of exact operands
};

struct ProbedGraph {
  // The floating point graph with a copy of each layer. The copy reads the exact operands, has
  // quantised weights, and quantises its result if the layer does. The outputs are the values of
  // the probes, each once.
  graph::Graph graph;
  std::vector<Probe> probes;  // in the order of the graph, inputs first
};

// Returns the probed graph of `graph`, the source.
ProbedGraph probe_layers(const graph::Graph& graph, const Quantised& quantised);

}  // namespace millrace::quantise
