// Selection: which nodes of a graph compute on quantised values. It follows from the graph alone,
// so it is known before anything is calibrated.
//
//   - Convolutions and matrix products do, where what they read fits.
//   - What stands between them does where it takes part in no conversion that would not be there
//     without it: it reads what quantised nodes make, and a quantised node reads its result.
//   - What comes behind the last of them stays floating point, where errors cost most and time
//     least: the decoding of boxes, Softmax.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "lowering/placement/placement.h"

namespace millrace::quantise {

struct SelectionOptions {
  lowering::CpuOperators keep = {};  // operators and nodes that stay floating point, by name
  std::vector<bool> kept = {};       // the same by the index of the node; empty: none
  // Whether nodes that make outputs, and what stands between them and the last convolution or
  // matrix product, compute on quantised values, too.
  bool quantise_outputs = false;
};

struct Selection {
  std::vector<bool> nodes;   // by index: computes on quantised values
  std::vector<bool> values;  // by id: is stored quantised, for such a node

  bool empty() const noexcept;
};

// Requirement: graph::validate(graph) is OK. kInvalidArgument: `keep` has names that match no node.
Result<Selection> select_nodes(const graph::Graph& graph, const SelectionOptions& options);

// Whether the node is a Conv or a MatMul.
bool is_weighted(const graph::Node& node) noexcept;
// The operands that are quantised like results, no weights; those that are absent left out.
std::vector<size_t> activation_slots(const graph::Graph& graph, const graph::Node& node);

}  // namespace millrace::quantise
