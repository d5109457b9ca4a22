// Decodes operators from tables of the archive schema. Private to the archive codec.
#pragma once

#include "graph/archive/enums.h"
#include "graph/archive/reader.h"
#include "graph/operators.h"

namespace millrace::graph {

// Decodes an attribute of a Fallback, or of a node of a network if it is neither a tensor nor a
// graph. Calls reader.fail() if it has no value, or a value of another kind.
Attribute decode_attribute(const format::Attribute& table, StructureReader& reader);

// Decodes the operator of a node. Calls reader.fail() if this version does not know it.
Operator decode_operator(const format::Node& node, StructureReader& reader);

}  // namespace millrace::graph
