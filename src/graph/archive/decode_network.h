// Decodes networks (models with open shapes) from tables of the archive schema. Private to the
// archive codec.
#pragma once

#include <memory>

#include "graph/archive/decode_value.h"
#include "graph/archive/enums.h"
#include "graph/archive/reader.h"
#include "graph/network/network.h"

namespace millrace::network {

namespace format = model::format;

// Decodes a network with its subgraphs. Calls reader.fail() if a table holds an enumerator that
// this version does not know, or subgraphs nest deeper than kMaxSubgraphDepth
// (graph/network/check.h). Consistency of the parts is left to network::check().
std::shared_ptr<const Network> decode_network(const format::Network& table,
                                              graph::StructureReader& reader,
                                              graph::ValueReader& values);

}  // namespace millrace::network
