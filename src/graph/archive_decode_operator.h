// Decodes operators from tables of the archive schema. Private to the archive codec.
#pragma once

#include "graph/archive_enums.h"
#include "graph/archive_reader.h"
#include "graph/operators.h"

namespace millrace::graph {

// Calls reader.fail() where the node's union holds no operator that this version knows.
Operator decode_operator(const format::Node& node, StructureReader& reader);

}  // namespace millrace::graph
