// Prints a graph as human-readable text, for `compile --dump-passes` and for reports. Thread-safe.
#pragma once

#include <string>

#include "graph/graph.h"

namespace millrace::cli {

// Returns the attributes of an operator, such as `group=1 strides=[1,1]`; empty if it has none.
// Neutral members are left out, such as an activation that is the identity.
std::string attributes_text(const graph::Operator& op);

// Returns the name of what the operator computes, such as "Add" rather than "Binary".
std::string operation_name(const graph::Operator& op);

// Returns the graph as text: inputs, constants with their first elements, nodes with operator,
// attributes, operands and results, and outputs. Each is on a line of its own, with type and shape.
// Names are quoted as JSON strings; bytes that are not UTF-8 are replaced. Equal graphs give equal
// text, since ids of values are not printed.
std::string graph_text(const graph::Graph& graph);

}  // namespace millrace::cli
