#include "model/structure.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/archive_generated.h"
#include "model/checksum.h"

namespace millrace::model {
namespace {

// The depth limit of the verifier. Tables are nested five deep without subgraphs, and three more
// for each of the up to 16 levels of subgraphs of a network.
constexpr uint32_t kMaxDepth = 64;
// The limit of the verifier for the number of tables. Every table takes at least 8 bytes (the
// offset of its vtable, and an offset that refers to it), so a valid structure is below the limit.
// A malicious one that refers to the same table many times is not.
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
        fmt::format("segment {} ({} bytes at {}) is outside the segment area of {} bytes", index,
                    segment.length(), offset, area_length));
  }
  if (offset < previous_end) {
    return corrupt_data(fmt::format("segment {} starts at {}, inside segment {} that ends at {}",
                                    index, offset, index - 1, previous_end));
  }
  return {};
}

// Checks all segments. They must be in ascending order, so that verifying all checksums reads the
// file once, sequentially.
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
