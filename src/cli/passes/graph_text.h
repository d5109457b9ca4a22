// A graph as human-readable text: what `compile --dump-passes` writes.
#pragma once

#include <string>

#include "graph/graph.h"

namespace millrace::cli {

// The attributes of an operator, as `group=1 strides=[1,1]`; empty where it has none. Members that
// say nothing are left out, such as an activation that is the identity.
std::string attributes_text(const graph::Operator& op);

// The operator by what it computes: "Add" rather than "Binary".
std::string operation_name(const graph::Operator& op);

// Inputs, constants with their first elements, nodes with operator, attributes, operands and
// results, and outputs: one a line, with type and shape. Names are quoted, and what is no UTF-8 in
// them is replaced. Equal graphs give equal text; the numbers of values are not in it.
std::string graph_text(const graph::Graph& graph);

}  // namespace millrace::cli
