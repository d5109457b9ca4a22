// Selects the nodes of a graph that compute on quantised values. The selection depends on the graph
// alone, so it is known before calibration.
//
//   - Convolutions and matrix products (Conv, MatMul) are selected if their operands are supported.
//   - A node between them is selected if this adds no conversion: its operands are quantised
//     anyway, and a selected node reads its result as integers.
//   - Nodes after the last convolution or matrix product, such as Softmax and box decoding, stay in
//     floating point: errors cost most there, and the nodes take little time.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "lowering/placement/placement.h"

namespace millrace::quantise {

struct SelectionOptions {
  lowering::OperatorNames float_names = {};  // operators and nodes that stay floating point
  std::vector<bool> float_nodes = {};        // the same, by index of the node; empty: none
  // Whether to quantise the outputs as well: nodes after the last convolution or matrix product may
  // be selected, and the outputs that selected nodes make are stored as integers.
  bool quantise_outputs = false;
};

struct Selection {
  std::vector<bool> nodes;   // by index: computes on quantised values
  std::vector<bool> values;  // by id: is stored as integers

  bool empty() const noexcept;  // whether no node is selected
};

// Requirement: graph::validate(graph) is OK. kInvalidArgument: `float_names` has names that match
// no node.
Result<Selection> select_nodes(const graph::Graph& graph, const SelectionOptions& options);

bool is_conv_or_matmul(const graph::Node& node) noexcept;
// Returns the indices of the operands that are activations, and so are quantised by a calibrated
// range: neither weights nor biases. Absent operands are left out.
std::vector<size_t> activation_slots(const graph::Graph& graph, const graph::Node& node);

}  // namespace millrace::quantise
