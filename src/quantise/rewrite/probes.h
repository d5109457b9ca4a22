// Probes: what each quantised layer alone adds to the error, whatever the layers before it did.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "quantise/rewrite/insert_requantise.h"

namespace millrace::quantise {

// A layer: a quantised node, or a graph input that is stored quantised.
struct Probe {
  std::optional<size_t> node;                // index in the graph that was probed
  std::optional<graph::ValueId> input;       // likewise; one of both
  graph::ValueId exact = graph::kNoValue;    // of the probed graph: the floating point value,
  graph::ValueId rounded = graph::kNoValue;  // and what the layer makes of exact operands
};

struct ProbedGraph {
  // The floating point graph with, beside each layer, a copy of it that reads the exact operands,
  // has quantised weights, and stores its result quantised where the layer does. Its outputs are
  // the values of the probes, each once.
  graph::Graph graph;
  std::vector<Probe> probes;  // in the order of the graph, inputs first
};

ProbedGraph probe_layers(const graph::Graph& graph, const Quantised& quantised);

}  // namespace millrace::quantise
