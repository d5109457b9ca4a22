// Decodes networks from tables of the archive schema. Private to the archive codec.
#pragma once

#include <memory>

#include "graph/archive/decode_value.h"
#include "graph/archive/enums.h"
#include "graph/archive/reader.h"
#include "graph/network/network.h"

namespace millrace::network {

namespace format = model::format;

// Calls reader.fail() where a table holds what this version does not know, or subgraphs nest deeper
// than kMaxSubgraphDepth (check.h). Whether the parts fit together is left to check().
std::shared_ptr<const Network> decode_network(const format::Network& table,
                                              graph::StructureReader& reader,
                                              graph::ValueReader& values);

}  // namespace millrace::network
