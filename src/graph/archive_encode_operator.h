// Encodes operators as tables of the archive schema. Private to the archive codec.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include "graph/archive_enums.h"
#include "graph/operators.h"

namespace millrace::graph {

// A member of the schema's union Operator.
struct EncodedOperator {
  format::Operator type;
  flatbuffers::Offset<void> table;
};

EncodedOperator encode_operator(flatbuffers::FlatBufferBuilder& builder, const Operator& op);

}  // namespace millrace::graph
