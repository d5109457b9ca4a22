// Links are resolved one by one, with a check of the owner of each, instead of by the system. The
// links of /proc are left to the system.
#include "base/files/output_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/files/own_descriptor.h"
#include "base/files/pipe_signal_blocked.h"
#include "base/unique_fd.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the limit of Linux

std::string without_end_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// True for the links of /proc, such as /proc/self/fd/1. They refer to open files, which may have no
// path, so only the system can follow them.
bool is_link_of_process(const std::string& path) {
  struct stat entry {};
  struct statfs info {};
  return ::lstat(path.c_str(), &entry) == 0 && S_ISLNK(entry.st_mode) &&
         ::statfs(folder_of(path).c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

bool is_trusted_owner(uid_t owner) noexcept {
  return owner == ::geteuid() || owner == 0;
}

// Resolves the links at the end of a path, except links of /proc.
Result<std::string> follow_links(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat entry {};
    if (::lstat(path.c_str(), &entry) != 0 || !S_ISLNK(entry.st_mode) || is_link_of_process(path))
      return path;
    if (!is_trusted_owner(entry.st_uid))
      return invalid_argument(fmt::format(
          "it is a symbolic link of another user ({}), which is not followed", entry.st_uid));
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) return io_error("cannot follow the symbolic link", error.value());
    path = without_end_slashes((fs::path(path).parent_path() / next).string());
  }
  return io_error("cannot follow the symbolic link", ELOOP);
}

Status refused(mode_t mode) {
  return invalid_argument(
      fmt::format("it is {}, to which no output is written", kind_of_file(mode)));
}

// Returns the number N if the path is a link of /proc/self/fd.
std::optional<int> own_number(const std::string& path) {
  std::error_code ignored;  // a folder that cannot be found holds no descriptors
  const fs::path folder = fs::canonical(folder_of(path), ignored);
  if (folder.empty() || folder != fs::canonical("/proc/self/fd", ignored)) return std::nullopt;
  const std::string name = fs::path(path).filename().string();
  int number = 0;
  const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (wrong != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// Opens a stream for writing. A descriptor of this process is duplicated, so that the output shares
// its file offset with everything else that the process writes there. O_NONBLOCK prevents that
// opening a FIFO waits for a reader.
UniqueFd open_stream(const std::string& path) {
  if (const std::optional<int> number = own_number(path))
    return UniqueFd(::fcntl(*number, F_DUPFD_CLOEXEC, kLowestOwnDescriptor));
  return own_descriptor(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

Status wait_for_room(int fd) {
  pollfd waited{.fd = fd, .events = POLLOUT, .revents = 0};
  if (::poll(&waited, 1, -1) >= 0 || errno == EINTR) return {};
  return io_error("cannot write", errno);
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0)
      bytes = bytes.subspan(static_cast<size_t>(written));
    else if (errno == EAGAIN)
      MILLRACE_RETURN_IF_ERROR(wait_for_room(fd));
    else if (errno != EINTR)
      return io_error("cannot write", errno);
  }
  return {};
}

Status check_kind(const std::string& path, mode_t wanted) {
  struct stat entry {};
  if (::lstat(path.c_str(), &entry) != 0 || (entry.st_mode & S_IFMT) == wanted) return {};
  return refused(entry.st_mode);
}

// Returns the nearest folder above a path that exists, or the path itself.
fs::path nearest_existing(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder != folder.parent_path())
    folder = folder_of(folder.string());
  return folder;
}

// Checks that this user may make files in the folder.
Status check_folder(const fs::path& folder) {
  struct stat entry {};
  if (::stat(folder.c_str(), &entry) != 0) return io_error(folder.string(), errno);
  if (!S_ISDIR(entry.st_mode))
    return invalid_argument(
        fmt::format("{} is {}, and no directory", folder.string(), kind_of_file(entry.st_mode)));
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return io_error("make files in " + folder.string(), errno);
}

}  // namespace

std::string_view kind_of_file(unsigned mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    case S_IFSOCK:
      return "a socket";
    default:
      return "no file";
  }
}

Result<OutputTarget> output_target(const std::string& path) {
  OutputTarget target;
  MILLRACE_ASSIGN_OR_RETURN(target.path, follow_links(without_end_slashes(path)));
  struct stat found {};
  // If the path cannot be examined, the later write fails and reports the reason.
  if (::stat(target.path.c_str(), &found) != 0) return target;
  if (S_ISDIR(found.st_mode) || S_ISSOCK(found.st_mode) || S_ISBLK(found.st_mode))
    return refused(found.st_mode);
  target.is_stream = !S_ISREG(found.st_mode) || is_link_of_process(target.path);
  return target;
}

Result<std::string> output_directory(const std::string& path) {
  return follow_links(without_end_slashes(path));
}

Status check_output(const std::string& path) {
  if (path.empty()) return {};
  if (path == "-")
    return invalid_argument(
        "write -: standard output is named /dev/stdout, and a file of this name ./-");
  const Result<OutputTarget> target = output_target(path);
  if (!target.ok()) return target.status().with_context("write " + path);
  if (target->is_stream) return {};
  return check_folder(folder_of(target->path)).with_context("write " + path);
}

Status check_output_folder(const std::string& path) {
  if (path.empty()) return {};
  return check_folder(nearest_existing(without_end_slashes(path))).with_context("write to " + path);
}

Status check_replaceable(const std::string& path) {
  return check_kind(path, S_IFREG);
}

Status check_replaceable_directory(const std::string& path) {
  return check_kind(path, S_IFDIR);
}

Status write_through(const OutputTarget& target, std::span<const std::byte> bytes) {
  return write_through(target, [bytes](const ByteSink& sink) { return sink(bytes); });
}

Status write_through(const OutputTarget& target,
                     const std::function<Status(const ByteSink&)>& emit) {
  const UniqueFd stream = open_stream(target.path);
  if (!stream && errno == ENXIO) return io_error("nobody reads from it", errno);
  if (!stream) return io_error("cannot open", errno);
  const PipeSignalBlocked no_signal;
  return emit([&](std::span<const std::byte> bytes) { return write_all(stream.get(), bytes); });
}

}  // namespace millrace
