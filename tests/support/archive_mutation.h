// Damages archives on purpose: seeded mutations whose checksums are corrected afterwards, so that
// they reach the checks behind the checksums.
#pragma once

#include <flatbuffers/flatbuffers.h>
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "model/archive_generated.h"

namespace millrace::test {

// Offsets in the header, as docs/rai-format.md gives them; deliberately not shared with the
// sources.
inline constexpr size_t kHeaderBytes = 64;
inline constexpr size_t kStructureOffsetAt = 16, kStructureLengthAt = 20, kStructureChecksumAt = 24,
                        kSegmentsOffsetAt = 32, kSegmentsLengthAt = 40, kFileLengthAt = 48,
                        kHeaderChecksumAt = 56;

template <class T>
T load_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void store_at(std::span<std::byte> bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// The structure of an archive in file form; empty where the header points outside the file.
inline std::span<std::byte> structure_of(std::span<std::byte> archive) {
  const auto offset = load_at<uint32_t>(archive, kStructureOffsetAt);
  const auto length = load_at<uint32_t>(archive, kStructureLengthAt);
  if (offset > archive.size() || length > archive.size() - offset) return {};
  return archive.subspan(offset, length);
}

// Writes the checksums of all segments that lie inside the file into the structure, if that still
// passes the verifier. Reads everything before it writes anything: in a damaged structure a
// checksum may overlap something else.
inline void fix_segment_checksums(std::span<std::byte> archive) {
  namespace format = model::format;
  const std::span<std::byte> structure = structure_of(archive);
  const auto* bytes = reinterpret_cast<const uint8_t*>(structure.data());
  if (structure.empty()) return;
  flatbuffers::Verifier verifier(bytes, structure.size());
  if (!format::VerifyArchiveBuffer(verifier)) return;
  const auto area = load_at<uint64_t>(archive, kSegmentsOffsetAt);
  if (area > archive.size()) return;
  const uint64_t room = archive.size() - area;
  std::vector<std::pair<size_t, uint64_t>> checksums;  // by offset in the structure
  for (const format::Segment* segment : *format::GetArchive(bytes)->segments()) {
    if (segment->offset() > room || segment->length() > room - segment->offset()) continue;
    const uint8_t* field = reinterpret_cast<const flatbuffers::Table*>(segment)->GetAddressOf(
        format::Segment::VT_CHECKSUM);
    if (field == nullptr) continue;
    const std::byte* data = archive.data() + area + segment->offset();
    checksums.emplace_back(field - bytes, XXH3_64bits(data, segment->length()));
  }
  for (const auto& [offset, checksum] : checksums) store_at(structure, offset, checksum);
}

// Makes segment, structure and header checksums match what they cover, as far as that can be found.
inline void fix_checksums(std::span<std::byte> archive) {
  if (archive.size() < kHeaderBytes) return;
  fix_segment_checksums(archive);
  if (const auto structure = structure_of(archive); !structure.empty()) {
    store_at<uint64_t>(archive, kStructureChecksumAt,
                       XXH3_64bits(structure.data(), structure.size()));
  }
  store_at<uint64_t>(archive, kHeaderChecksumAt, XXH3_64bits(archive.data(), kHeaderChecksumAt));
}

namespace mutation {

using Random = std::mt19937_64;

inline size_t below(Random& random, size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

inline void flip_bits(std::span<std::byte> bytes, Random& random) {
  if (bytes.empty()) return;
  for (size_t count = 1 + below(random, 4); count > 0; --count) {
    bytes[below(random, bytes.size())] ^= std::byte{1} << below(random, 8);
  }
}

// Overwrites one aligned 32-bit word with a value that often breaks arithmetic.
inline void plant_number(std::span<std::byte> bytes, Random& random) {
  static constexpr uint32_t kNumbers[] = {0,           1,           2,           4,
                                          0xffu,       0xffffu,     0x10000u,    0x7fffffffu,
                                          0x80000000u, 0xfffffff0u, 0xfffffffeu, 0xffffffffu};
  if (bytes.size() < 4) return;
  store_at<uint32_t>(bytes, below(random, bytes.size() / 4) * 4,
                     kNumbers[below(random, std::size(kNumbers))]);
}

inline void truncate(std::vector<std::byte>& bytes, Random& random) {
  bytes.resize(below(random, bytes.size()));
}

// Shortens the file and the lengths in its header alike.
inline void truncate_consistently(std::vector<std::byte>& bytes, Random& random) {
  truncate(bytes, random);
  if (bytes.size() < kHeaderBytes) return;
  const auto area = load_at<uint64_t>(bytes, kSegmentsOffsetAt);
  store_at<uint64_t>(bytes, kFileLengthAt, bytes.size());
  if (area <= bytes.size()) store_at<uint64_t>(bytes, kSegmentsLengthAt, bytes.size() - area);
}

}  // namespace mutation

// A damaged copy of a valid archive in file form. The same seed gives the same damage. Of a hundred
// seeds about 50 flip bits in the structure, 20 write such values there, 10 change the header, 5
// the segments, 10 truncate, and 5 leave the checksums wrong.
inline std::vector<std::byte> mutate(std::span<const std::byte> archive, uint64_t seed) {
  std::vector<std::byte> bytes(archive.begin(), archive.end());
  mutation::Random random(seed);
  const auto header = std::span(bytes).first(kHeaderBytes);
  const auto structure = structure_of(bytes);
  const size_t kind = mutation::below(random, 100);
  if (kind < 50) {
    mutation::flip_bits(structure, random);
  } else if (kind < 70) {
    mutation::plant_number(structure, random);
  } else if (kind < 75) {
    mutation::flip_bits(header, random);
  } else if (kind < 80) {
    mutation::plant_number(header, random);
  } else if (kind < 85) {
    mutation::flip_bits(std::span(bytes).subspan(load_at<uint64_t>(bytes, kSegmentsOffsetAt)),
                        random);
  } else if (kind < 90) {
    mutation::truncate(bytes, random);
  } else if (kind < 95) {
    mutation::truncate_consistently(bytes, random);
  } else {
    mutation::flip_bits(bytes, random);
    return bytes;
  }
  fix_checksums(bytes);
  return bytes;
}

}  // namespace millrace::test
