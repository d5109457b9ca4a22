// The fixed header of an archive: 64 little-endian bytes before the structure.
//
// The first 16 bytes have the same meaning in every format version, and every header ends with a
// checksum of the bytes before it, so that a damaged file can be distinguished from a newer one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace millrace::model {

// The format versions. A writer states the lowest version that supports the contents: version 1 has
// a graph; version 2 may have a network instead; in version 3, values may be quantised and nodes
// may have their own precision; in version 4, there may be partitions of collectives; in version 5,
// HW views may have other scales or zero points than the graph.
inline constexpr uint32_t kGraphFormatVersion = 1;
inline constexpr uint32_t kNetworkFormatVersion = 2;
inline constexpr uint32_t kQuantisedFormatVersion = 3;
inline constexpr uint32_t kCollectiveFormatVersion = 4;
inline constexpr uint32_t kRequantisedFormatVersion = 5;
inline constexpr uint32_t kFormatVersion = kRequantisedFormatVersion;  // the newest
inline constexpr uint32_t kHeaderSize = 64;
inline constexpr size_t kHeaderChecksumOffset = kHeaderSize - sizeof(uint64_t);
// The size of a cache line, and of the largest vector type, so that kernels can use the weights
// directly from the mapping.
inline constexpr uint64_t kSegmentAlignment = 64;
// FlatBuffers have 31-bit offsets, and the verifier accepts only sizes below the largest of them.
inline constexpr uint64_t kMaxStructureLength = 0x7ffffffe;

// The directory form: DIR/kPartDirectory/{kStructureFile, kSegmentsFile}.
inline constexpr const char* kPartDirectory = "vaiml_par_0";
inline constexpr const char* kStructureFile = "structure.bin";
inline constexpr const char* kSegmentsFile = "segments.bin";
// A model with CPU or collective partitions also has the file kConnectivityFile, and for each
// partition a directory, named by a prefix and a number, with the file kSubgraphFile.
inline constexpr const char* kConnectivityFile = "connectivity_metadata.json";
inline constexpr const char* kSubgraphFile = "subgraph.json";
inline constexpr const char* kNpuPartPrefix = "vaiml_par_";
inline constexpr const char* kCpuPartPrefix = "vaiml_cpu_subgraph_";
inline constexpr const char* kCollectivePartPrefix = "vaiml_collective_";

// As in PNG: a transfer in text mode corrupts the byte with the high bit, or the line ends.
inline constexpr std::array<uint8_t, 8> kMagic = {0x89, 'R', 'A', 'I', '\r', '\n', 0x1a, '\n'};

struct Header {
  uint32_t version = kGraphFormatVersion;
  uint32_t structure_offset = kHeaderSize;
  uint32_t structure_length = 0;
  uint64_t structure_checksum = 0;
  uint64_t segments_offset = 0;  // 0: the segments are in a separate file
  uint64_t segments_length = 0;
  uint64_t file_length = 0;  // length of the file that starts with this header

  bool segments_apart() const noexcept { return segments_offset == 0; }
};

std::array<std::byte, kHeaderSize> write_header(const Header& header) noexcept;

// Reads and checks the header of a file of `file_length` bytes. `start` has at least the first
// min(file_length, kForeignPrefix) bytes. kCorruptData says what is wrong; without the archive
// magic, it says what the file seems to be. kUnsupported for an intact header of a newer format
// version, and for a NEFF.
Result<Header> read_header(std::span<const std::byte> start, uint64_t file_length);

}  // namespace millrace::model
