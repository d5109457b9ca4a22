// Puts quantisation into a floating point graph, in the explicit form: each value that is stored as
// integers goes through a pair of Requantise, one that quantises it and one that makes numbers of
// it again. The nodes stay as they are but for their weights and biases, which become quantised
// constants. lowering's passes merge each node with the pairs around it.
#pragma once

#include <string>

#include "graph/graph.h"
#include "quantise/calibrate/collect.h"
#include "quantise/rewrite/forms.h"
#include "quantise/rewrite/selection.h"

namespace millrace::quantise {

// The values of a graph that its quantised nodes read and make, and their forms.
struct Quantised {
  Selection selection;
  Forms forms;
  // For the correction of biases; empty: none.
  Calibration calibration;
};

// The name that a value has where it is stored as integers.
std::string quantised_name(const std::string& name);

// A graph with the same inputs and outputs.
graph::Graph insert_requantise(const graph::Graph& graph, const Quantised& quantised);

// `node` with quantised weights and bias, if it has such. `graph` has all its values, and gets the
// constants.
graph::Node with_quantised_weights(graph::Graph& graph, const graph::Node& node,
                                   const Quantised& quantised);

// Adds a value that has the numbers of `from` in a form, and the node that makes it.
graph::ValueId add_quantised(graph::Graph& graph, graph::ValueId from, const StoredForm& form);

}  // namespace millrace::quantise
