#include "graph/archive_decode_value.h"

#include <fmt/format.h>

#include <algorithm>

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
    reader_.fail(fmt::format("segment {} of {}", segment, segments.size()));
    return {};
  }
  if (segments[segment]->kind() != format::SegmentKind::Constant) {
    reader_.fail(fmt::format("segment {} does not hold a constant", segment));
    return {};
  }
  used_segments_.push_back(segment);
  return {archive_->segment(segment), archive_};
}

Status ValueReader::verify_constants() {
  std::sort(used_segments_.begin(), used_segments_.end());
  const auto end = std::unique(used_segments_.begin(), used_segments_.end());
  for (auto segment = used_segments_.begin(); segment != end; ++segment) {
    MILLRACE_RETURN_IF_ERROR(archive_->verify_segment(*segment));
  }
  return {};
}

}  // namespace millrace::graph
