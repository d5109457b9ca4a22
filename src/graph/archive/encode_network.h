// Encodes networks as tables of the archive schema. Private to the archive codec.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/archive/enums.h"
#include "graph/network/network.h"

namespace millrace::network {

namespace format = model::format;

// Appends the constants of the network and its subgraphs, in the order in which encode_network()
// counts them as segments.
void list_constants(const Network& network, std::vector<std::span<const std::byte>>& constants);

// Encodes a network. Each constant gets the number `next_segment`, which is incremented.
flatbuffers::Offset<format::Network> encode_network(flatbuffers::FlatBufferBuilder& builder,
                                                    const Network& network, uint32_t& next_segment);

std::vector<flatbuffers::Offset<format::Name>> encode_names(flatbuffers::FlatBufferBuilder& builder,
                                                            const std::vector<std::string>& names);

}  // namespace millrace::network
