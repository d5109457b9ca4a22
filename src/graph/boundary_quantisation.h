// The meaning of integers as the HW view of a FLOAT32 input or output.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "tensor/desc.h"

namespace millrace::graph {

// The integers of which a boundary tensor is made, or that are made of it, and nothing else.
struct BoundaryQuantisation {
  tensor::DataType type;  // INT8 or UINT8
  tensor::QuantParams parameters;
  friend bool operator==(const BoundaryQuantisation&, const BoundaryQuantisation&) = default;
};

// Returns by value: for a FLOAT32 input, that of the one Requantise which reads it; for a FLOAT32
// output, that of the value from which a Requantise makes it. Nothing for all other values, and if
// scale and zero point differ within the tensor. Requirement: graph::validate(graph) is OK.
std::vector<std::optional<BoundaryQuantisation>> boundary_quantisations(const Graph& graph);

}  // namespace millrace::graph
