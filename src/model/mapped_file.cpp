#include "model/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"

namespace millrace::model {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return io_error("cannot open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error("cannot examine", errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument("not a regular file");
  const auto length = static_cast<size_t>(info.st_size);
  if (length == 0) return MappedFile({});
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED && errno == ENOMEM)
    return Status(StatusCode::kOutOfMemory, fmt::format("cannot map {} bytes", length));
  if (address == MAP_FAILED) return io_error(fmt::format("cannot map {} bytes", length), errno);
  return MappedFile({static_cast<const std::byte*>(address), length});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace millrace::model
