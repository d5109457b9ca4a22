// Decides which values of a graph are divided among ranks, and at which points the ranks have to
// exchange what they have.
//
// A product with constant weights starts a region: its columns are divided, and with them the
// result, what is computed of that, and what is needed for it beside it, up to the products that
// sum over the divided dimension. Of those each rank has a part of the sums, and an AllReduce adds
// them. So the two products of a feed-forward block are divided with one AllReduce, and likewise
// the projections of an attention with all between them, whose heads are divided. A region that
// meets an operator which needs the whole of a divided value is not divided.
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
  std::vector<Split> cuts;        // by value: every rank has all of it, and some nodes read a part
  std::vector<bool> partial;      // by node: each rank makes a part of its sums
  std::vector<uint32_t> divided;  // the products whose weights are divided
  // One line for each product that every rank computes as a whole: its node, and why.
  std::vector<std::string> whole;
};

// Requirements: the graph is valid; ranks > 1. kUnsupported, with the reasons, where nothing can be
// divided, and for a graph with quantised values.
Result<SplitPlan> plan_split(const graph::Graph& graph, uint32_t ranks);

// How the operands of a node are divided, one entry per operand.
std::vector<Split> operands_of(const graph::Graph& graph, const graph::Node& node, bool is_partial,
                               Split result, uint32_t ranks);

}  // namespace millrace::compiler
