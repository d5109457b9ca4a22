#include "model/files/output_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/output_target.h"
#include "model/archive_header.h"

namespace millrace::model {
namespace {

namespace fs = std::filesystem;

// True if the directory contains nothing but the given names. One that does not exist counts as
// empty, since another process may be replacing or removing it.
bool holds_only(const fs::path& directory, std::initializer_list<std::string_view> names) {
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  }
  return !error || error == std::errc::no_such_file_or_directory;
}

// True for names of parts, such as "vaiml_par_0": a prefix followed by a number.
bool is_part_name(const std::string& name) {
  for (const std::string_view prefix : {kNpuPartPrefix, kCpuPartPrefix, kCollectivePartPrefix}) {
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      return true;
    }
  }
  return false;
}

// True if the path is a part of an archive, or does not exist.
bool is_part(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return true;
  if (!is_part_name(name) || !fs::is_directory(status)) return false;
  return name == kPartDirectory ? holds_only(path, {kStructureFile, kSegmentsFile, kSubgraphFile})
                                : holds_only(path, {kSubgraphFile});
}

bool is_of_archive(const fs::path& path) {
  return path.filename() == kConnectivityFile || is_part(path);
}

bool is_replaceable_directory(const fs::path& directory) {
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    if (!is_of_archive(it->path())) return false;
  }
  return !error;
}

}  // namespace

Status check_file_target(const std::string& path) {
  if (path.empty()) return invalid_argument("cannot write an archive: the path is empty");
  const Result<OutputTarget> target = output_target(path);
  if (!target.ok()) return target.status().with_context("cannot write an archive to " + path);
  if (!target->is_stream) return {};
  return invalid_argument(
      fmt::format("cannot write an archive to {}: it is not a regular file", path));
}

Status check_directory_target(const std::string& path) {
  if (path.empty()) return invalid_argument("cannot write an archive: the path is empty");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) {
    return invalid_argument(fmt::format(
        "cannot write an archive in directory form to {}: it is not a directory", path));
  }
  if (is_replaceable_directory(path)) return {};
  return invalid_argument(
      fmt::format("cannot replace the directory {}: it contains something other than an archive in "
                  "directory form",
                  path));
}

Status check_part_target(const std::string& path) {
  if (is_part(path)) return {};
  return invalid_argument(fmt::format("cannot replace {}: it is not a part of an archive", path));
}

void remove_parts_except(const std::string& directory, std::span<const std::string> kept) {
  std::vector<fs::path> left_over;
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const bool wanted = std::ranges::find(kept, it->path().filename().string()) != kept.end();
    if (!wanted && is_of_archive(it->path())) left_over.push_back(it->path());
  }
  for (const fs::path& path : left_over) fs::remove_all(path, error);
}

}  // namespace millrace::model
