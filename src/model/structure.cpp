#include "model/structure.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/archive_generated.h"
#include "model/checksum.h"

namespace millrace::model {
namespace {

// The limits of the verifier. Tables nest five deep without subgraphs, and three deeper with each
// of the 16 levels of subgraphs that a network may have.
constexpr uint32_t kMaxDepth = 64;
// Every table takes at least 8 bytes (offset of the vtable, offset of the table itself), so a valid
// structure stays below this limit; one that refers to the same table many times does not.
uint32_t max_tables(size_t structure_length) {
  constexpr size_t kSmallestTable = 8;
  return static_cast<uint32_t>(structure_length / kSmallestTable + 1);
}

Status check_segment(uint32_t index, const format::Segment& segment, uint64_t area_length,
                     uint64_t previous_end) {
  const uint64_t offset = segment.offset();
  if (offset % kSegmentAlignment != 0) {
    return corrupt_data(fmt::format("segment {} starts at {}, not a multiple of {}", index, offset,
                                    kSegmentAlignment));
  }
  if (offset > area_length || segment.length() > area_length - offset) {
    return corrupt_data(
        fmt::format("segment {} ({} bytes at {}) lies outside the {} bytes of segments", index,
                    segment.length(), offset, area_length));
  }
  if (offset < previous_end) {
    return corrupt_data(fmt::format("segment {} starts at {}, inside segment {} that ends at {}",
                                    index, offset, index - 1, previous_end));
  }
  return {};
}

// In ascending order, checking all checksums takes one pass over the file.
Status check_segments(const format::Archive& root, uint64_t area_length) {
  const auto& segments = *root.segments();
  uint64_t previous_end = 0;
  for (uint32_t i = 0; i < segments.size(); ++i) {
    const format::Segment& segment = *segments[i];
    MILLRACE_RETURN_IF_ERROR(check_segment(i, segment, area_length, previous_end));
    previous_end = segment.offset() + segment.length();
  }
  return {};
}

}  // namespace

Result<const format::Archive*> verify_structure(std::span<const std::byte> bytes,
                                                const Header& header) {
  if (checksum_of(bytes) != header.structure_checksum) {
    return corrupt_data("the structure is damaged (its checksum does not match)");
  }
  flatbuffers::Verifier::Options limits;
  limits.max_depth = kMaxDepth;
  limits.max_tables = max_tables(bytes.size());
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                 limits);
  if (!format::VerifyArchiveBuffer(verifier)) {
    return corrupt_data("the structure is not a valid FlatBuffer of the archive schema");
  }
  const auto* root = format::GetArchive(bytes.data());
  MILLRACE_RETURN_IF_ERROR(check_segments(*root, header.segments_length));
  return root;
}

}  // namespace millrace::model
