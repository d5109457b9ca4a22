// ValueReader: decodes values, and finds the segments of their constants. Private to the archive
// codec.
#pragma once

#include <cstdint>
#include <memory>

#include "graph/archive/enums.h"
#include "graph/archive/reader.h"
#include "graph/graph.h"
#include "model/archive.h"

namespace millrace::graph {

class ValueReader {
 public:
  ValueReader(const std::shared_ptr<const model::Archive>& archive, StructureReader& reader)
      : archive_(archive), reader_(reader) {}

  // Decodes a value. Its constant points into the archive and keeps it alive. The caller must check
  // that the length of the constant fits type and shape.
  Value value(const format::Value& table);

 private:
  Constant constant_at(uint32_t segment);

  const std::shared_ptr<const model::Archive>& archive_;
  StructureReader& reader_;
};

}  // namespace millrace::graph
