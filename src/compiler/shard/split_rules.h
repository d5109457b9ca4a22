// Along which dimensions the operands and the result of a node are divided, when one of them is.
//
// A value that is divided along a dimension has that many equal parts, one after the other, and
// each rank has one of them. These are the rules of single nodes; split_plan.h applies them to a
// graph.
//
// Functions of their arguments alone: thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace millrace::compiler {

// The dimension along which a value is divided; nothing: every rank has all of it.
using Split = std::optional<size_t>;

// The effect of a divided operand on the result.
struct Effect {
  Split result;
  // Each rank has a part of the sums, and the result is the sum over all ranks.
  bool is_partial = false;
};

// How the operands have to be divided for the result to be divided along `dimension`, one entry per
// operand of the node. Nothing where the operator does not allow it.
std::optional<std::vector<Split>> operand_splits(const graph::Graph& graph, const graph::Node& node,
                                                 size_t dimension, uint32_t ranks);

// Returns the effect on the result when the operand `slot` is divided along `dimension`. Nothing if
// the operator does not allow it.
std::optional<Effect> effect_of(const graph::Graph& graph, const graph::Node& node, size_t slot,
                                size_t dimension, uint32_t ranks);

// The same as operand_splits() for the sums of a product, which are divided.
// Requirement: effect_of() has said that they can be.
std::vector<Split> operands_of_partial_sums(const graph::Graph& graph, const graph::Node& node);

}  // namespace millrace::compiler
