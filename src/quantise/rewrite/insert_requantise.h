// Makes the quantisation of a floating point graph explicit, as the QDQ format of ONNX does with
// QuantizeLinear and DequantizeLinear: each value that is stored as integers passes through a pair
// of Requantise nodes, of which the first quantises and the second dequantises it. Other nodes stay
// as they are, except that weights and biases of quantised nodes become quantised constants. The
// passes of lowering then fuse each node with the pairs around it. Thread-safe.
#pragma once

#include <string>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"
#include "quantise/rewrite/encodings.h"
#include "quantise/rewrite/selection.h"

namespace millrace::quantise {

// The quantised nodes of a graph, the values that are stored as integers, and their encodings.
struct Quantised {
  Selection selection;
  Encodings encodings;
  // The statistics for the correction of biases; empty: biases are not corrected.
  Calibration calibration;
};

// Returns the name of the integers of the value named `name`.
std::string quantised_name(const std::string& name);

// Returns the graph with explicit quantisation. Its inputs and outputs stay the same values.
graph::Graph insert_requantise(const graph::Graph& graph, const Quantised& quantised);

// Returns a copy of `node`, with quantised weights and bias if it is a Conv or a MatMul. Adds the
// new constants to `graph`, which must hold all values of the node.
graph::Node with_quantised_weights(graph::Graph& graph, const graph::Node& node,
                                   const Quantised& quantised);

// Adds a node that quantises `from` to an encoding, and its result. Returns the result.
graph::ValueId add_quantised(graph::Graph& graph, graph::ValueId from, const Encoding& encoding);

}  // namespace millrace::quantise
