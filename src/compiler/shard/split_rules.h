// Rules of sharding for single nodes: along which dimensions the operands and the result of a node
// are divided, if one of them is. split_plan.h applies them to a graph.
//
// A value that is divided along a dimension has equal, consecutive parts along it, one for each
// rank.
//
// All functions are pure: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::compiler {

// The dimension along which a value is divided; nothing if every rank has all of it.
using Split = std::optional<size_t>;

// The effect of a divided operand on the result.
struct Effect {
  Split result;
  // Each rank has partial sums, and the result is the sum over all ranks.
  bool is_partial = false;
};

// Returns how the operands must be divided for the result to be divided along `dimension`, one
// entry per operand. Nothing if the operator does not allow it.
std::optional<std::vector<Split>> operand_splits(const graph::Graph& graph, const graph::Node& node,
                                                 size_t dimension, uint32_t ranks);

// Returns the effect on the result when the operand `slot` is divided along `dimension`. Nothing if
// the operator does not allow it.
std::optional<Effect> effect_of(const graph::Graph& graph, const graph::Node& node, size_t slot,
                                size_t dimension, uint32_t ranks);

// Returns how the operands of a product must be divided along the dimension over which it sums.
// Requirement: effect_of() has returned is_partial for the node.
std::vector<Split> operands_of_partial_sums(const graph::Graph& graph, const graph::Node& node);

}  // namespace millrace::compiler
