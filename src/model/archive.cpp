// Opens both forms of an archive: maps the files, then verifies the header, the structure and the
// extents of the segments. Opening does not read the bytes of segments.
#include "model/archive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "model/archive_generated.h"
#include "model/archive_header.h"
#include "model/checksum.h"
#include "model/files/mapped_file.h"
#include "model/stated_checksums.h"
#include "model/structure.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

// Bytes, and a reference to the object that keeps them alive.
struct OwnedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class VerifiedArchive final : public Archive {
 public:
  // `structure` contains `root`; `segments` is the segment area.
  VerifiedArchive(std::string path, const format::Archive& root, OwnedBytes structure,
                  OwnedBytes segments)
      : path_(std::move(path)),
        root_(root),
        structure_(std::move(structure)),
        segments_(std::move(segments)) {
    checksums_.reserve(segment_count());
    for (uint32_t i = 0; i < segment_count(); ++i)
      checksums_.emplace_back(segment(i), root_.segments()->Get(i)->checksum());
  }

  const format::Archive& root() const override { return root_; }

  uint64_t structure_bytes() const override { return structure_.bytes.size(); }

  uint32_t segment_count() const override { return root_.segments()->size(); }

  std::span<const std::byte> segment(uint32_t index) const override {
    if (index >= segment_count()) return {};
    const format::Segment& segment = *root_.segments()->Get(index);
    return segments_.bytes.subspan(segment.offset(), segment.length());
  }

  Status verify_segment(uint32_t index) const override {
    if (index >= segment_count()) {
      return invalid_argument(
          fmt::format("there is no segment {}: the archive has {}", index, segment_count()));
    }
    if (checksum_of(segment(index)) == root_.segments()->Get(index)->checksum()) return {};
    return corrupt_data(fmt::format("segment {} is damaged (its checksum does not match)", index));
  }

  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const format::Archive& root_;
  const OwnedBytes structure_;
  const OwnedBytes segments_;
  std::vector<StatedChecksum> checksums_;
};

using ArchiveResult = Result<std::shared_ptr<const Archive>>;

Result<OwnedBytes> map_file(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  auto owner = std::make_shared<const MappedFile>(std::move(file));
  return OwnedBytes{owner->bytes(), owner};
}

Result<Header> header_of(std::span<const std::byte> file) {
  return read_header(file, file.size());
}

// Makes an archive of verified parts. Requirement: `file` starts with `header`.
ArchiveResult make_archive(std::string path, const Header& header, OwnedBytes file,
                           OwnedBytes segments) {
  OwnedBytes structure{file.bytes.subspan(header.structure_offset, header.structure_length),
                       std::move(file.owner)};
  MILLRACE_ASSIGN_OR_RETURN(const format::Archive* root, verify_structure(structure.bytes, header));
  return {std::make_shared<const VerifiedArchive>(std::move(path), *root, std::move(structure),
                                                  std::move(segments))};
}

// Opens the file form. Requirement: `file` is aligned to kSegmentAlignment.
ArchiveResult open_whole(const std::string& path, const OwnedBytes& file) {
  MILLRACE_ASSIGN_OR_RETURN(const Header header, header_of(file.bytes));
  if (header.segments_apart()) {
    return corrupt_data(
        fmt::format("the file is only the structure of an archive in directory form; pass the "
                    "directory that contains {}",
                    kPartDirectory));
  }
  const auto area = file.bytes.subspan(header.segments_offset, header.segments_length);
  return make_archive(path, header, file, OwnedBytes{area, file.owner});
}

// Returns the .rai files of a directory, sorted, for a message.
std::vector<std::string> archives_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code ignored;  // The list only improves a message.
  for (fs::directory_iterator it(directory, ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    if (it->path().extension() == ".rai") names.push_back(it->path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status no_part_directory(const fs::path& directory) {
  std::string message = fmt::format(
      "the directory has no subdirectory {} (an archive in directory form holds {}/{} "
      "and {}/{})",
      kPartDirectory, kPartDirectory, kStructureFile, kPartDirectory, kSegmentsFile);
  std::vector<std::string> archives = archives_in(directory);
  constexpr size_t kNamed = 3;
  if (archives.size() > kNamed) {
    archives.resize(kNamed);
    archives.push_back("...");
  }
  if (!archives.empty()) {
    message += fmt::format("; to open an archive inside it, pass the file itself: {}",
                           fmt::join(archives, ", "));
  }
  return invalid_argument(std::move(message));
}

// Maps one of the two files of the directory form. If it is missing the archive is damaged, so that
// gives kCorruptData and not kNotFound.
Result<OwnedBytes> map_part(const fs::path& part, const char* name) {
  auto file = map_file((part / name).string());
  if (file.ok()) return file;
  const Status status = file.status().with_context(fmt::format("{}/{}", kPartDirectory, name));
  if (status.code() != StatusCode::kNotFound) return status;
  return corrupt_data(status.message());
}

ArchiveResult open_directory(const std::string& path) {
  const fs::path part = fs::path(path) / kPartDirectory;
  std::error_code error;
  if (!fs::is_directory(part, error)) return no_part_directory(path);
  MILLRACE_ASSIGN_OR_RETURN(OwnedBytes structure, map_part(part, kStructureFile));
  auto header = header_of(structure.bytes);
  if (!header.ok()) {
    return header.status().with_context(fmt::format("{}/{}", kPartDirectory, kStructureFile));
  }
  if (!header->segments_apart()) {
    return corrupt_data(fmt::format("{}/{} is an archive in file form; pass that file itself",
                                    kPartDirectory, kStructureFile));
  }
  MILLRACE_ASSIGN_OR_RETURN(OwnedBytes segments, map_part(part, kSegmentsFile));
  if (segments.bytes.size() != header->segments_length) {
    return corrupt_data(fmt::format("{}/{}: expected {} bytes, have {}", kPartDirectory,
                                    kSegmentsFile, header->segments_length, segments.bytes.size()));
  }
  return make_archive(path, *header, std::move(structure), std::move(segments));
}

ArchiveResult open_any(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return open_directory(path);
  MILLRACE_ASSIGN_OR_RETURN(const OwnedBytes file, map_file(path));
  return open_whole(path, file);
}

bool aligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % kSegmentAlignment == 0;
}

Result<OwnedBytes> aligned_copy(std::span<const std::byte> bytes) {
  constexpr std::align_val_t kAlignment{kSegmentAlignment};
  auto* copy = static_cast<std::byte*>(::operator new(bytes.size(), kAlignment, std::nothrow));
  if (copy == nullptr) {
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("cannot allocate {} bytes for an archive", bytes.size()));
  }
  std::shared_ptr<const void> owner(
      copy, [](const void* memory) { ::operator delete(const_cast<void*>(memory), kAlignment); });
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return OwnedBytes{{copy, bytes.size()}, std::move(owner)};
}

ArchiveResult with_path(ArchiveResult archive, const std::string& path) {
  if (archive.ok()) return archive;
  return archive.status().with_context(path);
}

}  // namespace

ArchiveResult Archive::open(const std::string& path) {
  if (path.empty()) return invalid_argument("the path of the archive is empty");
  return with_path(open_any(path), path);
}

ArchiveResult Archive::from_memory(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner) {
  OwnedBytes file{bytes, std::move(owner)};
  if (!aligned(bytes)) {
    MILLRACE_ASSIGN_OR_RETURN(file, aligned_copy(bytes));
  }
  return open_whole("", file);
}

}  // namespace millrace::model
