// A small archive whose structure passes the checks of the model layer; it describes no graph.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/archive_generated.h"
#include "model/archive_header.h"
#include "model/archive_writer.h"

namespace millrace::test {

// `count` bytes that are not all alike.
inline std::vector<std::byte> numbered_bytes(size_t count, uint8_t first) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i * 3);
  return bytes;
}

// A structure with the given segments and otherwise empty lists.
inline std::vector<uint8_t> small_structure(std::span<const model::SegmentInfo> segments) {
  namespace format = model::format;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<format::Segment>> tables;
  for (const model::SegmentInfo& segment : segments) {
    tables.push_back(
        format::CreateSegment(builder, segment.offset, segment.length, segment.checksum));
  }
  const std::vector<flatbuffers::Offset<format::Value>> no_values;
  const std::vector<flatbuffers::Offset<format::Node>> no_nodes;
  const std::vector<flatbuffers::Offset<format::Boundary>> no_boundaries;
  const std::vector<format::Partition> no_partitions;
  const std::vector<format::PlannedValue> no_plan;
  format::FinishArchiveBuffer(
      builder, format::CreateArchiveDirect(builder, "small", "tests", format::Precision::Fp32, 1,
                                           &no_values, &no_nodes, &no_boundaries, &no_boundaries,
                                           &no_partitions, &no_plan, 0, &tables));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// Owns the bytes of its segments: 100, 0 and 64 of them.
struct SmallArchive {
  std::vector<std::vector<std::byte>> segments = {
      numbered_bytes(100, 1), {}, numbered_bytes(64, 200)};

  model::ArchiveContent content() const {
    return {{segments.begin(), segments.end()}, small_structure};
  }
  std::vector<std::byte> bytes() const { return archive_bytes(content()); }
};

}  // namespace millrace::test
