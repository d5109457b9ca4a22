// Checks in the order that gives the most specific message: magic, version and checksum, length of
// the file, then the extents of structure and segments.
#include "model/archive_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "model/checksum.h"
#include "model/files/foreign_file.h"

namespace millrace::model {
namespace {

static_assert(std::endian::native == std::endian::little,
              "archives are little-endian and used without a copy");

// The offset of each field in bytes; docs/rai-format.md has the same table.
enum Offset : size_t {
  kVersionAt = 8,
  kHeaderSizeAt = 12,
  kStructureOffsetAt = 16,
  kStructureLengthAt = 20,
  kStructureChecksumAt = 24,
  kSegmentsOffsetAt = 32,
  kSegmentsLengthAt = 40,
  kFileLengthAt = 48,
};

template <class T>
T load(std::span<const std::byte> bytes, size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, size_t offset, T value) noexcept {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// A NEFF gives kUnsupported: it is a valid model for another device. Any other file gives
// kCorruptData.
Status wrong_magic(std::span<const std::byte> start) {
  const std::string text = "not a Millrace archive; " + describe_foreign(start);
  return looks_like_neff(start) ? unsupported(text) : corrupt_data(text);
}

Status check_magic(std::span<const std::byte> start, uint64_t file_length) {
  if (file_length == 0) return corrupt_data("the file is empty");
  const size_t magic_length = std::min(start.size(), kMagic.size());
  if (std::memcmp(start.data(), kMagic.data(), magic_length) != 0) return wrong_magic(start);
  if (file_length < kHeaderSize) {
    return corrupt_data(
        fmt::format("truncated: {} bytes, not even a header of {}", file_length, kHeaderSize));
  }
  return {};
}

// The checksum distinguishes a newer version from a damaged version number. It is not verified for
// a newer version with a longer header, where its offset is not known.
Status check_version(std::span<const std::byte> start) {
  const auto version = load<uint32_t>(start, kVersionAt);
  const auto header_size = load<uint32_t>(start, kHeaderSizeAt);
  const bool intact = checksum_of(start.first(kHeaderChecksumOffset)) ==
                      load<uint64_t>(start, kHeaderChecksumOffset);
  const bool newer = version > kFormatVersion && (intact || header_size > kHeaderSize);
  if (newer) {
    return unsupported(
        fmt::format("the format version is {}, but this Millrace reads versions up to {}: update "
                    "Millrace or compile the model again",
                    version, kFormatVersion));
  }
  if (!intact) return corrupt_data("the header is damaged (its checksum does not match)");
  if (version == 0) return corrupt_data("format version 0 does not exist");
  if (header_size != kHeaderSize) {
    return corrupt_data(fmt::format("a header of {} bytes, expected {}", header_size, kHeaderSize));
  }
  return {};
}

Status check_file_length(const Header& header, uint64_t file_length) {
  if (file_length < header.file_length) {
    return corrupt_data(
        fmt::format("truncated: expected {} bytes, have {}", header.file_length, file_length));
  }
  if (file_length > header.file_length) {
    return corrupt_data(fmt::format("{} bytes follow the end of the archive at {}",
                                    file_length - header.file_length, header.file_length));
  }
  return {};
}

// Checks that the structure and the segment area lie in the file and do not overlap.
Status check_areas(const Header& header) {
  if (header.structure_offset != kHeaderSize) {
    return corrupt_data(fmt::format("the structure starts at {}, expected {}",
                                    header.structure_offset, kHeaderSize));
  }
  if (header.structure_length > kMaxStructureLength) {
    return corrupt_data(fmt::format("the structure has {} bytes, but the limit is {}",
                                    header.structure_length, kMaxStructureLength));
  }
  const uint64_t structure_end = uint64_t{header.structure_offset} + header.structure_length;
  if (structure_end > header.file_length) {
    return corrupt_data(fmt::format("the structure ends at {}, beyond the file's {} bytes",
                                    structure_end, header.file_length));
  }
  if (header.segments_apart()) {
    if (header.file_length == structure_end) return {};
    return corrupt_data(fmt::format("{} bytes follow the structure that ends at {}",
                                    header.file_length - structure_end, structure_end));
  }
  if (header.segments_offset < structure_end) {
    return corrupt_data(
        fmt::format("the segments start at {}, inside the structure that ends at {}",
                    header.segments_offset, structure_end));
  }
  if (header.segments_offset % kSegmentAlignment != 0) {
    return corrupt_data(fmt::format("the segments start at {}, not a multiple of {}",
                                    header.segments_offset, kSegmentAlignment));
  }
  if (header.segments_offset > header.file_length ||
      header.segments_length != header.file_length - header.segments_offset) {
    return corrupt_data(
        fmt::format("segments of {} bytes at {} do not end with the file's {} bytes",
                    header.segments_length, header.segments_offset, header.file_length));
  }
  return {};
}

}  // namespace

std::array<std::byte, kHeaderSize> write_header(const Header& header) noexcept {
  std::array<std::byte, kHeaderSize> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store(bytes, kVersionAt, header.version);
  store(bytes, kHeaderSizeAt, kHeaderSize);
  store(bytes, kStructureOffsetAt, header.structure_offset);
  store(bytes, kStructureLengthAt, header.structure_length);
  store(bytes, kStructureChecksumAt, header.structure_checksum);
  store(bytes, kSegmentsOffsetAt, header.segments_offset);
  store(bytes, kSegmentsLengthAt, header.segments_length);
  store(bytes, kFileLengthAt, header.file_length);
  store(bytes, kHeaderChecksumOffset, checksum_of(std::span(bytes).first(kHeaderChecksumOffset)));
  return bytes;
}

Result<Header> read_header(std::span<const std::byte> start, uint64_t file_length) {
  MILLRACE_RETURN_IF_ERROR(check_magic(start, file_length));
  MILLRACE_RETURN_IF_ERROR(check_version(start));
  Header header;
  header.version = load<uint32_t>(start, kVersionAt);
  header.structure_offset = load<uint32_t>(start, kStructureOffsetAt);
  header.structure_length = load<uint32_t>(start, kStructureLengthAt);
  header.structure_checksum = load<uint64_t>(start, kStructureChecksumAt);
  header.segments_offset = load<uint64_t>(start, kSegmentsOffsetAt);
  header.segments_length = load<uint64_t>(start, kSegmentsLengthAt);
  header.file_length = load<uint64_t>(start, kFileLengthAt);
  MILLRACE_RETURN_IF_ERROR(check_file_length(header, file_length));
  MILLRACE_RETURN_IF_ERROR(check_areas(header));
  return header;
}

}  // namespace millrace::model
