// First plans the whole layout (offsets, checksums, header), then emits it in order to a sink: a
// file, two files of the directory form, or memory.
#include "model/archive_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/align.h"
#include "model/checksum.h"
#include "model/files/output_file.h"
#include "model/files/output_path.h"
#include "model/files/temporary_output.h"

namespace millrace::model {
namespace {

using Bytes = std::span<const std::byte>;

struct Plan {
  Header header;
  std::vector<uint8_t> structure;
  std::vector<SegmentInfo> segments;
};

std::vector<SegmentInfo> place_segments(const std::vector<Bytes>& segments) {
  std::vector<SegmentInfo> infos;
  infos.reserve(segments.size());
  uint64_t end = 0;
  for (const Bytes segment : segments) {
    const uint64_t offset = align_up(end, kSegmentAlignment);
    infos.push_back({offset, segment.size(), checksum_of(segment)});
    end = offset + segment.size();
  }
  return infos;
}

Result<Plan> plan_archive(const ArchiveContent& content, ArchiveForm form) {
  Plan plan;
  plan.segments = place_segments(content.segments);
  plan.structure = content.build_structure(plan.segments);
  if (plan.structure.size() > kMaxStructureLength) {
    return unsupported(fmt::format("the structure has {} bytes, but the limit is {}",
                                   plan.structure.size(), kMaxStructureLength));
  }
  Header& header = plan.header;
  header.version = content.version;
  header.structure_length = static_cast<uint32_t>(plan.structure.size());
  header.structure_checksum = checksum_of(std::as_bytes(std::span(plan.structure)));
  if (!plan.segments.empty()) {
    header.segments_length = plan.segments.back().offset + plan.segments.back().length;
  }
  const uint64_t structure_end = uint64_t{header.structure_offset} + header.structure_length;
  if (form == ArchiveForm::kFile) {
    header.segments_offset = align_up(structure_end, kSegmentAlignment);
    header.file_length = header.segments_offset + header.segments_length;
  } else {
    header.file_length = structure_end;
  }
  return plan;
}

Status emit_padding(uint64_t length, const Sink& sink) {
  static constexpr std::array<std::byte, kSegmentAlignment> kZeros{};
  return length == 0 ? Status() : sink(Bytes(kZeros).first(length));
}

Status emit_structure(const Plan& plan, const Sink& sink) {
  MILLRACE_RETURN_IF_ERROR(sink(write_header(plan.header)));
  return sink(std::as_bytes(std::span(plan.structure)));
}

Status emit_segments(const Plan& plan, const std::vector<Bytes>& segments, const Sink& sink) {
  uint64_t end = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(emit_padding(plan.segments[i].offset - end, sink));
    MILLRACE_RETURN_IF_ERROR(sink(segments[i]));
    end = plan.segments[i].offset + segments[i].size();
  }
  return {};
}

Status emit_file(const Plan& plan, const std::vector<Bytes>& segments, const Sink& sink) {
  MILLRACE_RETURN_IF_ERROR(emit_structure(plan, sink));
  const uint64_t structure_end = kHeaderSize + plan.structure.size();
  MILLRACE_RETURN_IF_ERROR(emit_padding(plan.header.segments_offset - structure_end, sink));
  return emit_segments(plan, segments, sink);
}

Status write_file_form(const Plan& plan, const std::vector<Bytes>& segments,
                       const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(TemporaryFile output, TemporaryFile::create(path));
  MILLRACE_RETURN_IF_ERROR(
      output.fill([&](const Sink& sink) { return emit_file(plan, segments, sink); }));
  return output.commit();
}

// Writes a side file below `directory`. Requirement: `directory` and its subdirectory
// kPartDirectory exist.
Status write_side_file(const SideFile& file, std::string directory) {
  if (!file.directory.empty()) {
    directory += "/" + file.directory;
    if (file.directory != kPartDirectory) MILLRACE_RETURN_IF_ERROR(create_directory(directory));
  }
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd fd, create_file(fmt::format("{}/{}", directory, file.name)));
  return fill_file(std::move(fd),
                   [&](const Sink& sink) { return sink(std::as_bytes(std::span(file.text))); });
}

Status write_directory_form(const Plan& plan, const ArchiveContent& content,
                            const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(TemporaryDirectory output, TemporaryDirectory::create(path));
  const std::string part = fmt::format("{}/{}", output.name(), kPartDirectory);
  MILLRACE_RETURN_IF_ERROR(create_directory(part));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd structure,
                            create_file(fmt::format("{}/{}", part, kStructureFile)));
  MILLRACE_RETURN_IF_ERROR(fill_file(std::move(structure),
                                     [&](const Sink& sink) { return emit_structure(plan, sink); }));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd weights,
                            create_file(fmt::format("{}/{}", part, kSegmentsFile)));
  MILLRACE_RETURN_IF_ERROR(fill_file(std::move(weights), [&](const Sink& sink) {
    return emit_segments(plan, content.segments, sink);
  }));
  if (content.side_files) {
    for (const SideFile& file : content.side_files()) {
      MILLRACE_RETURN_IF_ERROR(write_side_file(file, output.name()));
    }
  }
  return output.commit();
}

}  // namespace

Status check_archive_target(const std::string& path, ArchiveForm form) {
  return form == ArchiveForm::kFile ? check_file_target(path) : check_directory_target(path);
}

Status write_archive(const ArchiveContent& content, const std::string& path, ArchiveForm form) {
  MILLRACE_RETURN_IF_ERROR(check_archive_target(path, form));
  MILLRACE_ASSIGN_OR_RETURN(const Plan plan, plan_archive(content, form));
  const Status status = form == ArchiveForm::kFile ? write_file_form(plan, content.segments, path)
                                                   : write_directory_form(plan, content, path);
  return status.with_context(path);
}

std::vector<std::byte> archive_bytes(const ArchiveContent& content) {
  std::vector<std::byte> bytes;
  const auto plan = plan_archive(content, ArchiveForm::kFile);
  if (!plan.ok()) return bytes;
  bytes.reserve(plan->header.file_length);
  const Sink append = [&](Bytes part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  };
  // Appending to memory cannot fail.
  static_cast<void>(emit_file(*plan, content.segments, append));
  return bytes;
}

}  // namespace millrace::model
