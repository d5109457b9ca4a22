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

// An operand's or constant's description. A constant is the next segment.
flatbuffers::Offset<format::Value> encode_value(flatbuffers::FlatBufferBuilder& builder,
                                                const Value& value, uint32_t& next_segment);

flatbuffers::Offset<format::Attribute> encode_attribute(flatbuffers::FlatBufferBuilder& builder,
                                                        const Attribute& attribute);

EncodedOperator encode_operator(flatbuffers::FlatBufferBuilder& builder, const Operator& op);

}  // namespace millrace::graph
