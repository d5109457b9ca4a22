#include "model/archive_extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "model/archive_header.h"
#include "model/mapped_file.h"
#include "model/output_file.h"
#include "model/output_path.h"

namespace millrace::model {
namespace {

using FileBytes = std::span<const std::byte>;

// The two files of the directory form.
struct Parts {
  std::array<std::byte, kHeaderSize> header;
  FileBytes structure;
  FileBytes segments;
};

Result<Parts> parts_of(FileBytes file) {
  MILLRACE_ASSIGN_OR_RETURN(
      Header header,
      read_header(file.first(std::min<size_t>(file.size(), kHeaderSize)), file.size()));
  if (header.segments_apart())
    return corrupt_data("the file is part of an archive, not an archive");
  Parts parts;
  parts.structure = file.subspan(header.structure_offset, header.structure_length);
  parts.segments = file.subspan(header.segments_offset, header.segments_length);
  header.structure_offset = kHeaderSize;
  header.segments_offset = 0;
  header.file_length = kHeaderSize + parts.structure.size();
  parts.header = write_header(header);
  return parts;
}

bool same_bytes(FileBytes a, FileBytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

bool holds(const std::string& part, const Parts& parts) {
  const auto structure = MappedFile::open(fmt::format("{}/{}", part, kStructureFile));
  const auto segments = MappedFile::open(fmt::format("{}/{}", part, kSegmentsFile));
  if (!structure.ok() || !segments.ok() || structure->bytes().size() < kHeaderSize) return false;
  return same_bytes(structure->bytes().first(kHeaderSize), parts.header) &&
         same_bytes(structure->bytes().subspan(kHeaderSize), parts.structure) &&
         same_bytes(segments->bytes(), parts.segments);
}

Status write_one(const std::string& path, std::initializer_list<FileBytes> content) {
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd file, create_file(path));
  return fill_file(std::move(file), [&](const Sink& sink) {
    for (const FileBytes bytes : content) MILLRACE_RETURN_IF_ERROR(sink(bytes));
    return Status();
  });
}

Status write_part(const std::string& part, const Parts& parts) {
  MILLRACE_RETURN_IF_ERROR(check_part_target(part));
  TemporaryOutput output(part);
  MILLRACE_RETURN_IF_ERROR(create_directory(output.name()));
  output.mark_created();
  MILLRACE_RETURN_IF_ERROR(write_one(fmt::format("{}/{}", output.name(), kStructureFile),
                                     {parts.header, parts.structure}));
  MILLRACE_RETURN_IF_ERROR(
      write_one(fmt::format("{}/{}", output.name(), kSegmentsFile), {parts.segments}));
  return output.commit_directory();
}

}  // namespace

Result<bool> extract_archive(const std::string& file, const std::string& directory) {
  MILLRACE_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::open(file));
  const Result<Parts> parts = parts_of(mapped.bytes());
  if (!parts.ok()) return parts.status().with_context(file);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return io_error(fmt::format("cannot create the directory {}", directory), error.value());
  const std::string part = fmt::format("{}/{}", directory, kPartDirectory);
  if (holds(part, *parts)) return false;
  const Status written = write_part(part, *parts);
  if (!written.ok()) return written.with_context(directory);
  return true;
}

}  // namespace millrace::model
