#include "base/files/trusted_file.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

namespace millrace {
namespace {

namespace fs = std::filesystem;

std::string folder_with(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

bool is_own(uid_t owner) noexcept {
  return owner == ::geteuid() || owner == 0;
}

// Returns who may write besides the owner; empty if nobody else may.
std::string_view other_writers(const struct stat& entry) noexcept {
  if ((entry.st_mode & S_IWOTH) != 0) return "everybody";
  const bool private_group = entry.st_gid == entry.st_uid && !has_raised_rights();
  return (entry.st_mode & S_IWGRP) != 0 && !private_group ? "its group" : "";
}

Status belongs_to_another(const struct stat& entry, const std::string& path) {
  return unsupported(fmt::format("{} belongs to user {}, but only user {} and root are trusted",
                                 path, entry.st_uid, ::geteuid()));
}

Status check_entry(const struct stat& entry, const std::string& path) {
  if (!is_own(entry.st_uid)) return belongs_to_another(entry, path);
  const std::string_view writers = other_writers(entry);
  if (writers.empty()) return {};
  return unsupported(
      fmt::format("{} may be written by {}, so it is not trusted (chmod go-w)", path, writers));
}

}  // namespace

bool has_raised_rights() noexcept {
  return ::getauxval(AT_SECURE) != 0;
}

Status check_trusted(const struct stat& file, const std::string& path) {
  if (!S_ISREG(file.st_mode)) return unsupported(path + " is not a regular file");
  return check_entry(file, path);
}

Status check_trusted_folder(const std::string& folder) {
  struct stat entry {};
  if (::stat(folder.c_str(), &entry) != 0) return {};
  const bool sticky = (entry.st_mode & S_ISVTX) != 0 && is_own(entry.st_uid);
  return sticky ? Status() : check_entry(entry, folder);
}

Status check_trusted_path(const std::string& path) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  struct stat entry {};
  if (error || ::stat(file.c_str(), &entry) != 0) return {};
  MILLRACE_RETURN_IF_ERROR(check_trusted(entry, file.string()));
  MILLRACE_RETURN_IF_ERROR(check_trusted_folder(folder_with(file)));
  return check_trusted_folder(folder_with(path));
}

}  // namespace millrace
