// Plans tensor parallelism: which values of a graph are divided among ranks, and where the ranks
// exchange data, as in Megatron-LM (Shoeybi et al., 2019).
//
// A product with constant weights starts a region. Its columns are divided, and with them its
// result, everything that is computed from that, and other operands as needed, up to the products
// that sum over the divided dimension. Of those each rank has partial sums, which an AllReduce
// adds. So the two products of a feed-forward block need one AllReduce, and so do the projections
// of an attention with everything between them, whose heads are divided. A region with an operator
// that needs the whole of a divided value is not divided.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/shard/split_rules.h"
#include "graph/graph.h"

namespace millrace::compiler {

struct SplitPlan {
  std::vector<Split> values;      // by value
  std::vector<Split> cuts;        // by value: each rank has all of it, but some nodes read a part
  std::vector<bool> partial;      // by node: each rank makes partial sums
  std::vector<uint32_t> divided;  // the products whose weights are divided
  // One line for each product that every rank computes as a whole: its node and the reason.
  std::vector<std::string> whole;
};

// Makes the plan. Requirements: the graph is valid; ranks > 1. kUnsupported: nothing can be divided
// (the message has the reasons), or the graph has quantised values.
Result<SplitPlan> plan_split(const graph::Graph& graph, uint32_t ranks);

// Returns how the operands of a node are divided, one entry per operand. `is_partial` and `result`
// are the entries of the plan for the node and its result.
std::vector<Split> operands_of(const graph::Graph& graph, const graph::Node& node, bool is_partial,
                               Split result, uint32_t ranks);

}  // namespace millrace::compiler
