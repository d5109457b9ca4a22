#include "model/files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

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

Status create_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  return io_error("cannot create a temporary directory", errno);
}

Status create_directory_of(const std::string& file) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  return error ? io_error("cannot create the directory", error.value()) : Status();
}

}  // namespace millrace::model
