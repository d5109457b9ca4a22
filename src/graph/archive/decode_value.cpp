#include "graph/archive/decode_value.h"

#include <fmt/format.h>

namespace millrace::graph {

Value ValueReader::value(const format::Value& table) {
  Value value;
  value.name = reader_.text(*table.name());
  value.type = reader_.enumerator<tensor::DataType>("data type", table.type());
  value.shape = reader_.list(*table.shape());
  if (table.quantisation() != nullptr) {
    const format::Quantisation& quantisation = *table.quantisation();
    value.quantisation =
        Quantisation{reader_.list(*quantisation.scales()),
                     reader_.list(*quantisation.zero_points()), quantisation.axis()};
  }
  if (table.constant()) value.constant = constant_at(*table.constant());
  return value;
}

Constant ValueReader::constant_at(uint32_t segment) {
  const auto& segments = *archive_->root().segments();
  if (segment >= segments.size()) {
    reader_.fail(fmt::format("segment {}, but there are {}", segment, segments.size()));
    return {};
  }
  if (segments[segment]->kind() != format::SegmentKind::Constant) {
    reader_.fail(fmt::format("segment {} does not hold a constant", segment));
    return {};
  }
  return {archive_->segment(segment), archive_};
}

}  // namespace millrace::graph
