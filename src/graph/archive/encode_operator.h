// Encodes operators and values as tables of the archive schema. Private to the archive codec.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include "graph/archive/enums.h"
#include "graph/graph.h"

namespace millrace::graph {

// A member of the schema's union Operator.
struct EncodedOperator {
  format::Operator type;
  flatbuffers::Offset<void> table;
};

// Encodes the description of a value. A constant gets the segment `next_segment`, which is
// incremented.
flatbuffers::Offset<format::Value> encode_value(flatbuffers::FlatBufferBuilder& builder,
                                                const Value& value, uint32_t& next_segment);

flatbuffers::Offset<format::Attribute> encode_attribute(flatbuffers::FlatBufferBuilder& builder,
                                                        const Attribute& attribute);

EncodedOperator encode_operator(flatbuffers::FlatBufferBuilder& builder, const Operator& op);

}  // namespace millrace::graph
