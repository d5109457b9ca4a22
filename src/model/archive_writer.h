// Writes archives, in both forms. The caller builds the FlatBuffer; this adds header, segments,
// offsets and checksums. Nothing half-written is left behind: a file is made under a temporary name
// in the same directory and renamed when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::model {

struct SegmentInfo {
  uint64_t offset = 0;  // from the start of the segment area (file form); 0 in the directory form
  uint64_t length = 0;
  uint64_t checksum = 0;  // XXH3-64 of the bytes
};

enum class ArchiveForm { kFile, kDirectory };

// What goes into an archive: segments by reference (they must outlive the call), and a function
// that finishes the FlatBuffer once the segments' places are known.
struct ArchiveContent {
  std::vector<std::span<const std::byte>> segments;
  std::function<std::vector<uint8_t>(std::span<const SegmentInfo>)> build_structure;
};

Status write_archive(const ArchiveContent& content, const std::string& path, ArchiveForm form);
// The file form in memory.
std::vector<std::byte> archive_bytes(const ArchiveContent& content);

}  // namespace millrace::model
