#include "memory/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>

#include "base/forked_child.h"
#include "base/format_status.h"
#include "base/log.h"

namespace millrace::memory {
namespace {

Status cannot_map(int fd, size_t bytes, const std::string& why) {
  return invalid_argument(
      fmt::format("cannot map {} bytes of file descriptor {}: {}", bytes, fd, why));
}

Status out_of_memory(size_t bytes, std::string_view why) {
  return {StatusCode::kOutOfMemory,
          fmt::format("cannot have {} bytes of shared memory: {}", bytes, why)};
}

// Whether the system forbids files in memory altogether, as some seccomp filters do.
bool is_forbidden(int error) noexcept {
  return error == EPERM || error == EACCES || error == ENOSYS;
}

void log_forbidden_once(int error) {
  static std::atomic_flag logged;
  if (logged.test_and_set() || !log_enabled(LogLevel::kWarning)) return;
  log(LogLevel::kWarning, "memory",
      fmt::format("memory cannot be exported: the system forbids memfd_create or ftruncate ({})",
                  std::strerror(error)));
}

// The size of the file, or -1. A dma-buf reports no size but knows its end.
off_t size_of_file(int fd, const struct stat& info) {
  if (S_ISREG(info.st_mode) || info.st_size != 0) return info.st_size;
  return ::lseek(fd, 0, SEEK_END);
}

// Whether Millrace has made the file, in whatever process.
bool is_made_here(int fd) {
  constexpr std::string_view kPrefix = "/memfd:millrace";
  char target[kPrefix.size()];
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof(target));
  return length == sizeof(target) && std::string_view(target, sizeof(target)) == kPrefix;
}

// Whether nobody can truncate the file. Only memfds know seals.
bool is_sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

}  // namespace

struct Mapping::Cache {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Mapping>> entries;
  std::deque<std::shared_ptr<Mapping>> kept;  // the one that was opened last comes first
};

// A file about to be mapped. Without a claim its descriptor is closed after mapping: the mapped
// pages keep the file, and its name in /proc, alive.
struct Mapping::Source {
  UniqueFd fd;
  std::optional<DescriptorClaim> claim;
  bool writable = true;
  struct stat info = {};

  Key key() const { return {info.st_dev, info.st_ino, writable}; }
};

Mapping::Cache& Mapping::cache() {
  // Never destroyed: mappings may be released while the process exits.
  static Cache* made = new Cache;
  return *made;
}

Result<std::shared_ptr<Mapping>> Mapping::create(size_t bytes, const std::string& file_name) {
  if (is_forked_child()) return forked_status();
  Source source;
  source.fd = UniqueFd(::memfd_create(file_name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!source.fd && (errno == EMFILE || errno == ENFILE))
    return map_anonymous(bytes, NoFile::kNoDescriptor);
  if (!source.fd || ::ftruncate(source.fd.get(), static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    if (!is_forbidden(error)) return out_of_memory(bytes, std::strerror(error));
    log_forbidden_once(error);
    return map_anonymous(bytes, NoFile::kForbidden);
  }
  // A process that we share the file with must not be able to truncate it: accessing the lost pages
  // would end this process with SIGBUS. A kernel without seals cannot prevent that.
  (void)::fcntl(source.fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (::fstat(source.fd.get(), &source.info) != 0)
    return out_of_memory(bytes, std::strerror(errno));
  source.claim = DescriptorClaim::try_make();
  auto mapping = share(std::move(source), bytes);
  if (!mapping.ok()) return out_of_memory(bytes, mapping.status().message());
  return mapping;
}

Result<std::shared_ptr<Mapping>> Mapping::open(int fd, size_t bytes) {
  if (is_forked_child()) return forked_status();
  Source source;
  source.fd = UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!source.fd) return cannot_map(fd, bytes, std::strerror(errno));
  source.claim.emplace(DescriptorClaim::make());
  if (::fstat(source.fd.get(), &source.info) != 0)
    return cannot_map(fd, bytes, std::strerror(errno));
  if (S_ISDIR(source.info.st_mode)) return cannot_map(fd, bytes, "it is a directory");
  const off_t size = size_of_file(source.fd.get(), source.info);
  if (size < 0) return cannot_map(fd, bytes, "it has no size; it may be a pipe or a socket");
  if (static_cast<size_t>(size) < bytes)
    return cannot_map(fd, bytes, fmt::format("the file has only {} bytes", size));
  const int flags = ::fcntl(source.fd.get(), F_GETFL);
  source.writable = (flags & O_ACCMODE) == O_RDWR;
  auto mapping = share(std::move(source), bytes);
  if (mapping.status().code() == StatusCode::kOutOfMemory) return mapping;
  if (!mapping.ok()) return cannot_map(fd, bytes, mapping.status().message());
  keep(*mapping);
  return mapping;
}

// Memory of a bank is free for it when its last user is gone.
void Mapping::keep(const std::shared_ptr<Mapping>& mapping) {
  if (!mapping->cached_ || mapping->of_bank_ || mapping->bytes_ > kKeptBytes) return;
  std::deque<std::shared_ptr<Mapping>> dropped;  // outlive the lock, which releasing takes
  const std::lock_guard lock(cache().mutex);
  std::deque<std::shared_ptr<Mapping>>& kept = cache().kept;
  if (!kept.empty() && kept.front() == mapping) return;
  std::erase(kept, mapping);
  kept.push_front(mapping);
  size_t bytes = 0;
  const auto first_too_many = std::ranges::find_if(kept, [&](const auto& one) {
    bytes += one->bytes_;
    return bytes > kKeptBytes;
  });
  const auto limit = static_cast<size_t>(first_too_many - kept.begin());
  while (kept.size() > std::min(limit, kKeptMappings)) {
    dropped.push_back(std::move(kept.back()));
    kept.pop_back();
  }
}

Result<std::shared_ptr<Mapping>> Mapping::share(Source source, size_t bytes) {
  if (!S_ISREG(source.info.st_mode)) return map(std::move(source), bytes);
  const Key key = source.key();
  // Outlives the lock: releasing a mapping takes the lock.
  std::shared_ptr<Mapping> found;
  const std::lock_guard lock(cache().mutex);
  std::weak_ptr<Mapping>& entry = cache().entries[key];
  found = entry.lock();
  if (found && found->bytes_ >= bytes) return found;
  auto made = map(std::move(source), bytes);
  if (made.ok()) {
    made.value()->cached_ = true;
    made.value()->key_ = key;
    entry = made.value();
  } else if (!found) {
    cache().entries.erase(key);
  }
  return made;
}

Result<std::shared_ptr<Mapping>> Mapping::map(Source source, size_t bytes) {
  const int protection = source.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = ::mmap(nullptr, bytes, protection, MAP_SHARED, source.fd.get(), 0);
  if (data == MAP_FAILED && errno == ENOMEM) return out_of_memory(bytes, std::strerror(errno));
  if (data == MAP_FAILED) return io_error("mmap", errno);
  std::shared_ptr<Mapping> mapping = hold(data, bytes);
  mapping->of_bank_ = is_made_here(source.fd.get());
  mapping->may_shrink_ = S_ISREG(source.info.st_mode) && !is_sealed(source.fd.get());
  if (source.claim) {
    mapping->fd_ = std::move(source.fd);
    mapping->claim_.emplace(*std::move(source.claim));
  }
  mapping->writable_ = source.writable;
  mapping->may_be_dma_buf_.store(!S_ISREG(source.info.st_mode), std::memory_order_relaxed);
  return mapping;
}

// MAP_SHARED, so that after fork() it behaves as memfds do.
Result<std::shared_ptr<Mapping>> Mapping::map_anonymous(size_t bytes, NoFile why) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return out_of_memory(bytes, std::strerror(errno));
  std::shared_ptr<Mapping> mapping = hold(data, bytes);
  mapping->why_no_file_ = why;
  return mapping;
}

std::shared_ptr<Mapping> Mapping::hold(void* data, size_t bytes) {
  std::shared_ptr<Mapping> mapping(new Mapping);
  mapping->data_ = static_cast<std::byte*>(data);
  mapping->bytes_ = bytes;
  return mapping;
}

Mapping::~Mapping() {
  if (is_forked_child())
    static_cast<void>(device_side_.release());
  else
    device_side_.reset();  // reads the memory once more
  ::munmap(data_, bytes_);
  if (!cached_ || is_forked_child()) return;
  const std::lock_guard lock(cache().mutex);
  // The entry may already belong to a larger mapping of the same file.
  const auto entry = cache().entries.find(key_);
  if (entry != cache().entries.end() && entry->second.expired()) cache().entries.erase(entry);
}

Result<int> Mapping::duplicate_fd() const {
  if (!fd_ && why_no_file_ == NoFile::kForbidden)
    return unsupported(
        "the memory was made without a descriptor, because the system forbids memfd_create or "
        "ftruncate, by a seccomp filter perhaps");
  if (!fd_)
    return unsupported(fmt::format(
        "the memory was made without a descriptor, of which memory takes half at most: raise the "
        "limit, {} now (RLIMIT_NOFILE, `ulimit -n`)",
        DescriptorClaim::limit()));
  const int copy = ::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return io_error("cannot duplicate the descriptor of a buffer", errno);
  return copy;
}

Status Mapping::check_size(size_t bytes) const noexcept {
  struct stat info = {};
  if (!fd_) return {};  // a new file that no other process can know
  if (::fstat(fd_.get(), &info) != 0) return io_error("fstat", errno);
  if (info.st_size >= 0 && static_cast<size_t>(info.st_size) >= bytes) return {};
  return format_status(StatusCode::kIoError,
                       "the file behind the memory was truncated: it has {} of {} bytes",
                       info.st_size, bytes);
}

Status Mapping::sync(bool towards_host) const {
  if (!may_be_dma_buf_.load(std::memory_order_relaxed)) return {};
  dma_buf_sync request{};
  request.flags = DMA_BUF_SYNC_RW | (towards_host ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END);
  int result = 0;
  do {
    result = ::ioctl(fd_.get(), DMA_BUF_IOCTL_SYNC, &request);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return {};
  if (errno != ENOTTY) return io_error("DMA_BUF_IOCTL_SYNC", errno);
  may_be_dma_buf_.store(false, std::memory_order_relaxed);
  return {};
}

}  // namespace millrace::memory
