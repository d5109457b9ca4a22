#include "model/files/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/align.h"
#include "base/files/own_descriptor.h"
#include "base/files/trusted_file.h"
#include "base/never_destroyed.h"
#include "base/unique_fd.h"

namespace millrace::model {
namespace {

// The mappings of this process, as a map from the begin to the end of each. Thread-safe.
class Mappings {
 public:
  void add(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    ends_[bytes.data()] = bytes.data() + bytes.size();
  }
  void remove(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    ends_.erase(bytes.data());
  }
  bool contain(std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    const auto behind = ends_.upper_bound(bytes.data());
    return behind != ends_.begin() && bytes.data() + bytes.size() <= std::prev(behind)->second;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, const std::byte*> ends_;
};

Mappings& mappings() {
  static NeverDestroyed<Mappings> all;
  return all.get();
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  return map(path, false);
}

Result<MappedFile> MappedFile::open_trusted(const std::string& path) {
  return map(path, true);
}

Result<MappedFile> MappedFile::map(const std::string& path, bool trusted) {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const UniqueFd file = own_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return io_error("cannot open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return io_error("cannot examine", errno);
  if (!S_ISREG(info.st_mode)) return invalid_argument("not a regular file");
  if (trusted) MILLRACE_RETURN_IF_ERROR(check_trusted(info, path));
  const auto length = static_cast<size_t>(info.st_size);
  if (length == 0) return MappedFile({});
  void* address = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED && errno == ENOMEM)
    return Status(StatusCode::kOutOfMemory, fmt::format("cannot map {} bytes", length));
  if (address == MAP_FAILED) return io_error(fmt::format("cannot map {} bytes", length), errno);
  MappedFile mapped({static_cast<const std::byte*>(address), length});
  mappings().add(mapped.bytes_);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  mappings().remove(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void release_pages(std::span<const std::byte> bytes) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = align_up(begin, kPage);
  const uintptr_t last = (begin + bytes.size()) / kPage * kPage;
  if (first >= last || !mappings().contain(bytes)) return;
  // MADV_DONTNEED discards only clean pages here, since the mapping is read-only.
  std::byte* const page = const_cast<std::byte*>(bytes.data()) + (first - begin);
  static_cast<void>(::madvise(page, last - first, MADV_DONTNEED));
}

}  // namespace millrace::model
