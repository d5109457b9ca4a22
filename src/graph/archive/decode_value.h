// ValueReader: decodes values and the constants that they have in segments. Private to the archive
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

  // Constants point into the archive and keep it alive. Whether their length fits type and shape is
  // left to the caller.
  Value value(const format::Value& table);

 private:
  Constant constant_at(uint32_t segment);

  const std::shared_ptr<const model::Archive>& archive_;
  StructureReader& reader_;
};

}  // namespace millrace::graph
