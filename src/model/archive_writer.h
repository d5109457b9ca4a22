// Writes archives, in both forms. The caller builds the FlatBuffer; this adds header, segments,
// offsets and checksums. The same content gives the same bytes.
//
// No incomplete archive is left behind: it is written under a temporary name beside the target and
// renamed when complete. On failure the temporary file is removed and the target stays as it was.
// Writing does not wait for the disk: a power failure may damage an archive just written, which its
// checksums then reveal.
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
  uint64_t offset = 0;  // from the start of the segment area, in both forms
  uint64_t length = 0;
  uint64_t checksum = 0;  // XXH3-64 of the bytes
};

enum class ArchiveForm { kFile, kDirectory };

// A text file beside the archive itself, for human readers and tools.
struct SideFile {
  std::string directory;  // the name of a part; empty for the directory of the archive itself
  std::string name;
  std::string text;
};

// The content of an archive: segments by reference (they must outlive the call), a function that
// completes the FlatBuffer once the offsets of the segments are known, and one (it may be empty)
// that returns the side files of the directory form. The version is the lowest that readers must
// know.
struct ArchiveContent {
  std::vector<std::span<const std::byte>> segments;
  std::function<std::vector<uint8_t>(std::span<const SegmentInfo>)> build_structure;
  std::function<std::vector<SideFile>()> side_files = {};
  uint32_t version = kGraphFormatVersion;
};

// Replaces a regular file (kFile), or an empty directory or an earlier archive in directory form
// (kDirectory); anything else at `path` is refused with kInvalidArgument. kNotFound or kIoError
// when the operating system refuses; kUnsupported when the structure is too large for a FlatBuffer.
Status write_archive(const ArchiveContent& content, const std::string& path, ArchiveForm form);
// Checks whether write_archive() could replace the file at `path`; call it before long work.
Status check_archive_target(const std::string& path, ArchiveForm form);
// The file form in memory; empty when the structure is too large for a FlatBuffer.
std::vector<std::byte> archive_bytes(const ArchiveContent& content);

}  // namespace millrace::model
