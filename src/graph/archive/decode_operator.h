// Decodes operators from tables of the archive schema. Private to the archive codec.
#pragma once

#include "graph/archive/enums.h"
#include "graph/archive/reader.h"
#include "graph/operators.h"

namespace millrace::graph {

// The attribute of a Fallback, or of another node whose attribute is neither a tensor nor a graph.
// Calls reader.fail() where it has no value, or one of another kind.
Attribute decode_attribute(const format::Attribute& table, StructureReader& reader);

// Calls reader.fail() where the node's union holds no operator that this version knows.
Operator decode_operator(const format::Node& node, StructureReader& reader);

}  // namespace millrace::graph
