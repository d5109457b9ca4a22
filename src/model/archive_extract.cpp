// The directory form has the bytes of the file form in two files, with another header. Existing
// parts are compared byte by byte and only replaced if they differ.
#include "model/archive_extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "model/archive_header.h"
#include "model/files/mapped_file.h"
#include "model/files/output_file.h"
#include "model/files/output_path.h"
#include "model/files/temporary_output.h"

namespace millrace::model {
namespace {

using FileBytes = std::span<const std::byte>;

// A file of the directory form, with its contents in consecutive pieces.
struct FormFile {
  std::string name;
  std::vector<FileBytes> content;
};

struct Part {
  std::string name;
  std::vector<FormFile> files;
};

struct DirectoryForm {
  std::vector<Part> parts;
  std::vector<FormFile> files;  // beside the parts
};

Result<Header> header_of_whole(FileBytes file) {
  MILLRACE_ASSIGN_OR_RETURN(const Header header, read_header(file, file.size()));
  if (header.segments_apart())
    return corrupt_data("the file is a part of an archive in directory form, not an archive");
  return header;
}

std::array<std::byte, kHeaderSize> directory_form_header(Header header) {
  header.structure_offset = kHeaderSize;
  header.segments_offset = 0;
  header.file_length = uint64_t{kHeaderSize} + header.structure_length;
  return write_header(header);
}

void add(const SideFile& file, DirectoryForm& form) {
  FormFile text = {file.name, {std::as_bytes(std::span(file.text))}};
  if (file.directory.empty()) return form.files.push_back(std::move(text));
  auto part = std::ranges::find(form.parts, file.directory, &Part::name);
  if (part == form.parts.end()) part = form.parts.insert(part, {file.directory, {}});
  part->files.push_back(std::move(text));
}

bool same_bytes(FileBytes a, FileBytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

bool holds(const std::string& directory, const FormFile& file) {
  const auto mapped = MappedFile::open(fmt::format("{}/{}", directory, file.name));
  if (!mapped.ok()) return false;
  FileBytes rest = mapped->bytes();
  for (const FileBytes piece : file.content) {
    if (rest.size() < piece.size() || !same_bytes(rest.first(piece.size()), piece)) return false;
    rest = rest.subspan(piece.size());
  }
  return rest.empty();
}

bool holds(const std::string& directory, const Part& part) {
  const std::string path = fmt::format("{}/{}", directory, part.name);
  return std::ranges::all_of(part.files, [&](const FormFile& file) { return holds(path, file); });
}

Status emit(const std::vector<FileBytes>& content, const Sink& sink) {
  for (const FileBytes bytes : content) MILLRACE_RETURN_IF_ERROR(sink(bytes));
  return {};
}

Status write(const std::string& directory, const FormFile& file) {
  MILLRACE_ASSIGN_OR_RETURN(TemporaryFile output,
                            TemporaryFile::create(fmt::format("{}/{}", directory, file.name)));
  MILLRACE_RETURN_IF_ERROR(output.fill([&](const Sink& sink) { return emit(file.content, sink); }));
  return output.commit();
}

Status write(const std::string& directory, const Part& part) {
  const std::string path = fmt::format("{}/{}", directory, part.name);
  MILLRACE_RETURN_IF_ERROR(check_part_target(path));
  MILLRACE_ASSIGN_OR_RETURN(TemporaryDirectory output, TemporaryDirectory::create(path));
  for (const FormFile& file : part.files) {
    MILLRACE_ASSIGN_OR_RETURN(UniqueFd fd,
                              create_file(fmt::format("{}/{}", output.name(), file.name)));
    MILLRACE_RETURN_IF_ERROR(
        fill_file(std::move(fd), [&](const Sink& sink) { return emit(file.content, sink); }));
  }
  return output.commit();
}

// Writes the parts and files that `directory` does not have with the same contents, and removes
// parts that do not belong to the archive. True if anything was written.
Result<bool> make_hold(const std::string& directory, const DirectoryForm& form) {
  bool written = false;
  const auto make = [&](const auto& piece) {
    if (holds(directory, piece)) return Status();
    written = true;
    return write(directory, piece);
  };
  for (const Part& part : form.parts) MILLRACE_RETURN_IF_ERROR(make(part));
  for (const FormFile& file : form.files) MILLRACE_RETURN_IF_ERROR(make(file));
  if (written) {
    std::vector<std::string> names;
    for (const Part& part : form.parts) names.push_back(part.name);
    for (const FormFile& file : form.files) names.push_back(file.name);
    remove_parts_except(directory, names);
  }
  return written;
}

}  // namespace

Result<bool> extract_archive(const std::string& file, const std::string& directory,
                             const std::vector<SideFile>& side_files) {
  MILLRACE_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::open(file));
  const Result<Header> header = header_of_whole(mapped.bytes());
  if (!header.ok()) return header.status().with_context(file);
  MILLRACE_RETURN_IF_ERROR(create_directories(directory));
  const auto start = directory_form_header(*header);
  const auto structure = mapped.bytes().subspan(header->structure_offset, header->structure_length);
  const auto segments = mapped.bytes().subspan(header->segments_offset, header->segments_length);
  DirectoryForm form;
  form.parts = {
      {kPartDirectory, {{kStructureFile, {start, structure}}, {kSegmentsFile, {segments}}}}};
  for (const SideFile& side_file : side_files) add(side_file, form);
  Result<bool> written = make_hold(directory, form);
  if (!written.ok()) return written.status().with_context(directory);
  return written;
}

}  // namespace millrace::model
