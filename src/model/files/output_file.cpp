#include "model/files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files/own_descriptor.h"

namespace millrace::model {
namespace {

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("cannot write", errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

// Creates the directory if it is missing, and appends it to `made` in that case. False, with errno
// set, if it does not exist afterwards.
bool have_directory(const std::filesystem::path& path, std::vector<std::filesystem::path>& made) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return true;
  if (!make_directory(path.string())) {
    const int reason = errno == EEXIST ? ENOTDIR : errno;
    if (std::filesystem::is_directory(path, error)) return true;
    errno = reason;
    return false;
  }
  made.push_back(path);
  return true;
}

}  // namespace

Result<UniqueFd> create_file(const std::string& path) {
  UniqueFd file =
      own_descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return io_error("cannot create a temporary file", errno);
  return file;
}

Status fill_file(UniqueFd file, const std::function<Status(const Sink&)>& emit) {
  MILLRACE_RETURN_IF_ERROR(
      emit([&](std::span<const std::byte> bytes) { return write_all(file.get(), bytes); }));
  // Some file systems report a full disk only here.
  if (::close(file.release()) != 0) return io_error("cannot finish writing", errno);
  return {};
}

// Grants the owner all rights, whatever the umask is, since nothing could be written to the
// directory otherwise. `mkdir -p` does the same for parents.
bool make_directory(const std::string& path) noexcept {
  if (::mkdir(path.c_str(), 0777) != 0) return false;
  struct stat made {};
  if (::stat(path.c_str(), &made) != 0 || (made.st_mode & S_IRWXU) == S_IRWXU) return true;
  ::chmod(path.c_str(), (made.st_mode & 0777) | S_IRWXU);
  return true;
}

Status create_directory(const std::string& path) {
  if (make_directory(path)) return {};
  return io_error("cannot create a temporary directory", errno);
}

Status create_directories(const std::string& path) {
  std::vector<std::filesystem::path> made;
  std::filesystem::path part;
  for (const std::filesystem::path& name : std::filesystem::path(path)) {
    part /= name;
    if (have_directory(part, made)) continue;
    const int reason = errno;
    for (; !made.empty(); made.pop_back()) ::rmdir(made.back().c_str());
    return io_error("cannot create " + path, reason);
  }
  return {};
}

Status create_directory_of(const std::string& file) {
  return create_directories(std::filesystem::path(file).parent_path().string());
}

}  // namespace millrace::model
