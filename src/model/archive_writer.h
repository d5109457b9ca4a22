// Writes archives, in the file form and in the directory form. The caller builds the FlatBuffer;
// these functions add header, segments, offsets and checksums. The output is deterministic: the
// same contents give the same bytes.
//
// Writing is atomic: an archive is written beside its target under a temporary name and renamed
// when it is complete. On failure the temporary file is removed and the target is unchanged. There
// is no fsync: a power failure may damage an archive that was just written, which its checksums
// reveal. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/archive_header.h"

namespace millrace::model {

struct SegmentInfo {
  uint64_t offset = 0;  // from the start of the segment area
  uint64_t length = 0;
  uint64_t checksum = 0;  // XXH3-64 of the bytes
};

enum class ArchiveForm { kFile, kDirectory };

// A text file in the directory form, which describes the model to people and tools.
struct SideFile {
  std::string directory;  // the name of a part; empty for the top-level directory
  std::string name;
  std::string text;
};

// The contents of an archive: the segments, which are borrowed during the call; a function that
// builds the FlatBuffer once the offsets of the segments are known; a function, which may be empty,
// that returns the side files of the directory form; and the lowest format version that readers
// must support.
struct ArchiveContent {
  std::vector<std::span<const std::byte>> segments;
  std::function<std::vector<uint8_t>(std::span<const SegmentInfo>)> build_structure;
  std::function<std::vector<SideFile>()> side_files = {};
  uint32_t version = kGraphFormatVersion;
};

// Writes an archive to `path`. It may replace a regular file (kFile), or an empty directory or an
// archive in directory form (kDirectory); anything else gives kInvalidArgument. kNotFound or
// kIoError on failure of the system; kUnsupported when the structure is too large for a FlatBuffer.
Status write_archive(const ArchiveContent& content, const std::string& path, ArchiveForm form);
// Checks that write_archive() may write to `path`. Programs call it before long work.
Status check_archive_target(const std::string& path, ArchiveForm form);
// Returns the file form in memory; empty when the structure is too large for a FlatBuffer.
std::vector<std::byte> archive_bytes(const ArchiveContent& content);

}  // namespace millrace::model
