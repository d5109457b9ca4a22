// What integers mean as the HW view of a FLOAT32 input or output.
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

// By value: of an input of FLOAT32, that of the one Requantise which reads it; of an output of
// FLOAT32, that of the value from which a Requantise makes it. Nothing for all other values, and
// where scale and zero point differ within the tensor. Requirement: graph::validate(graph) is OK.
std::vector<std::optional<BoundaryQuantisation>> boundary_quantisations(const Graph& graph);

}  // namespace millrace::graph
