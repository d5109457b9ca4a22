// Determines how the HW view of a FLOAT32 input or output may hold integers: with the type, scale
// and zero point to which the graph quantises the input, or from which it dequantises the output.
// Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "tensor/desc.h"

namespace millrace::graph {

// The quantised form of an input or output.
struct BoundaryQuantisation {
  tensor::DataType type;  // INT8 or UINT8
  tensor::QuantParams parameters;
  friend bool operator==(const BoundaryQuantisation&, const BoundaryQuantisation&) = default;
};

// Returns the quantised form by value. For a FLOAT32 input it is the form to which a Requantise
// converts it, if that is the only node that reads it; for a FLOAT32 output, the form of the value
// from which a Requantise makes it. All other values have none, and neither have tensors that are
// quantised per axis or not to INT8 or UINT8. Requirement: graph::validate(graph) is OK.
std::vector<std::optional<BoundaryQuantisation>> boundary_quantisations(const Graph& graph);

}  // namespace millrace::graph
