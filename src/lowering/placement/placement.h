// Assigns each operator to a processor, and groups the operators into partitions.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::lowering {

// Names that select operators of the graph ("Softmax", "Conv"), a Unary or Binary also by its
// function ("Sigmoid", "Add"), operators as the model calls them ("Gemm"), and nodes of the graph
// or of the model. A node merged from several is selected by the name of any of them. CpuOperators
// are forced onto the CPU fallback.
using OperatorNames = std::set<std::string, std::less<>>;
using CpuOperators = OperatorNames;

// Whether a node has to go to the CPU: it is forced there, or the NPU does not run it. Collectives
// go to partitions of their own instead.
bool goes_to_cpu(const graph::Graph& graph, const graph::Node& node,
                 const CpuOperators& cpu_operators);

// kInvalidArgument names those that mean no node and what was to become of them, for example
// "to put on the CPU", and lists the operators that there are.
Status check_names(const graph::Graph& graph, const OperatorNames& names, std::string_view purpose);

// Returns the names that match a node of the graph.
CpuOperators matching_operators(const graph::Graph& graph, const CpuOperators& cpu_operators);

// Returns the names that match the node, in ascending order.
std::vector<std::string> matching_names(const graph::Node& node, const OperatorNames& names);

// Reorders the nodes so that partitions are as few as possible, each value still being made before
// it is used and the nodes of a partition keeping their order, and returns the partitions. Where no
// operators are forced onto the CPU, an NPU partition between two on the CPU is joined with them if
// it does not do enough work to be worth bringing its values over and back (placement_cost.h).
// Collectives come in the same order wherever a graph has the same operators, whatever its weights.
// kInvalidArgument names the names that match no node, and lists those that match one; or one that
// names a collective.
Result<std::vector<graph::Partition>> place_nodes(graph::Graph& graph,
                                                  const CpuOperators& cpu_operators);

}  // namespace millrace::lowering
