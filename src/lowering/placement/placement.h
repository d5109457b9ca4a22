// Assigns each operator to the NPU, the CPU or the communicator of the ranks, and groups the
// operators into partitions. Functions depend on their arguments alone: thread-safe.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/capabilities.h"
#include "graph/compiled_model.h"

namespace millrace::lowering {

// Names that select nodes. A node matches the name of its operator in the graph ("Softmax", "Conv";
// for a Unary or Binary also its function, "Sigmoid" or "Add"), the operators of the nodes of the
// model that it was made of ("Gemm"), its own name, and the names of these nodes of the model.
// CpuOperators are forced onto the CPU.
using OperatorNames = std::set<std::string, std::less<>>;
using CpuOperators = OperatorNames;

// Whether a node has to run on the CPU: it is forced there, or the NPU does not run it. The answer
// does not count for collectives, which go to partitions of their own.
bool goes_to_cpu(const graph::Graph& graph, const graph::Node& node,
                 const graph::Capabilities& capabilities, const CpuOperators& cpu_operators);

// Checks that each name matches a node. kInvalidArgument otherwise; the message has the unmatched
// names, the `purpose` for which they were given, such as "to put on the CPU", and the operators of
// the graph.
Status check_names(const graph::Graph& graph, const OperatorNames& names, std::string_view purpose);

// Returns the names that match a node of the graph.
CpuOperators matching_operators(const graph::Graph& graph, const CpuOperators& cpu_operators);

// Returns the names that match the node, in ascending order.
std::vector<std::string> matching_names(const graph::Node& node, const OperatorNames& names);

// Groups the nodes into partitions, reorders them accordingly, and returns the partitions. Without
// collectives, the partitions are as few as possible. Every value is still made before it is read.
// If no operators are forced onto the CPU, an NPU partition between two CPU partitions is merged
// with them unless it does enough work to be worth the transfer of its values (placement_cost.h).
//
// The order of the collectives follows from the operators of the graph and not from its weights,
// since all ranks of a divided model have to begin them in the same order. kInvalidArgument for a
// name that matches no node (see check_names()) or that matches a collective, and for more than
// kMaxPartitions partitions.
Result<std::vector<graph::Partition>> place_nodes(graph::Graph& graph,
                                                  const graph::Capabilities& capabilities,
                                                  const CpuOperators& cpu_operators);

}  // namespace millrace::lowering
