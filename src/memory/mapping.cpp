// Creation of shared memory (memfd, DMA-BUF, anonymous fallback), imports, and the table of
// mappings by device and inode, which holds weak references. The table's mutex is never held while
// a mapping is destroyed, because the destructor locks it.
#include "memory/mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "base/contained.h"
#include "base/files/own_descriptor.h"
#include "base/format_status.h"
#include "base/log.h"
#include "base/process/forked_child.h"
#include "memory/fault_gates.h"
#include "memory/kept_mappings.h"

namespace millrace::memory {
namespace {

Status cannot_map(int fd, size_t bytes, const std::string& why) {
  return invalid_argument(
      fmt::format("cannot map {} bytes of file descriptor {}: {}", bytes, fd, why));
}

Status out_of_memory(size_t bytes, std::string_view why) {
  return {StatusCode::kOutOfMemory,
          fmt::format("cannot allocate {} bytes of shared memory: {}", bytes, why)};
}

// True if the error means that the system forbids memfds altogether, as some seccomp filters do.
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

// Returns the size of the file, or -1. The fstat() of a DMA-BUF has no size, but lseek() finds the
// end.
off_t size_of_file(int fd, const struct stat& info) {
  if (S_ISREG(info.st_mode) || info.st_size != 0) return info.st_size;
  return ::lseek(fd, 0, SEEK_END);
}

// These seals prevent a process with which the file is shared from truncating it, which would raise
// SIGBUS in this process.
constexpr int kSealsOfOurs = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// True if the file is a memfd with these seals. Other files have no seals.
bool has_seals(int fd, int seals) noexcept {
  const int found = ::fcntl(fd, F_GET_SEALS);
  return found >= 0 && (found & seals) == seals;
}

// True if Millrace has made the file, in any process, as its name shows. Without /proc it returns
// true, too: that only costs a mapping per import, whereas memory of a bank must not be cached.
bool is_made_here(int fd, bool is_dma_buf) {
  if (!is_dma_buf && !has_seals(fd, kSealsOfOurs)) return false;
  const std::string_view prefix = is_dma_buf ? "/dmabuf:millrace" : "/memfd:millrace";
  char target[32];
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t length = ::readlink(link.c_str(), target, sizeof(target));
  return length < 0 || std::string_view(target, static_cast<size_t>(length)).starts_with(prefix);
}

UniqueFd duplicate(int fd) {
  return open_descriptor([fd] { return ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestOwnDescriptor); });
}

}  // namespace

struct Mapping::Cache {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Mapping>> entries;
};

// A file that is about to be mapped. Without a claim its descriptor is closed after mapping; the
// mapping keeps the file and its name in /proc.
struct Mapping::Source {
  UniqueFd fd;
  std::optional<DescriptorClaim> claim;
  bool writable = true;
  bool is_new = false;
  struct stat info = {};

  Key key() const { return {info.st_dev, info.st_ino, writable}; }
};

Mapping::Cache& Mapping::cache() {
  // Never destroyed, since mappings may be released while the process exits.
  static Cache* made = new Cache;
  return *made;
}

Result<std::shared_ptr<Mapping>> Mapping::create(MemorySource source, size_t bytes,
                                                 const std::string& file_name) {
  if (is_forked_child()) return forked_status();
  return source == MemorySource::kMemfd ? create_memfd(bytes, file_name)
                                        : create_dma_buf(source, bytes, file_name);
}

Result<std::shared_ptr<Mapping>> Mapping::create_memfd(size_t bytes, const std::string& file_name) {
  Source source;
  source.fd = open_descriptor(
      [&] { return ::memfd_create(file_name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING); });
  if (!source.fd && (errno == EMFILE || errno == ENFILE))
    return map_anonymous(bytes, NoFile::kNoDescriptor);
  if (!source.fd || ::ftruncate(source.fd.get(), static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    if (!is_forbidden(error)) return out_of_memory(bytes, std::strerror(error));
    log_forbidden_once(error);
    return map_anonymous(bytes, NoFile::kForbidden);
  }
  // Failure is ignored: without support for seals, other processes can truncate the file.
  static_cast<void>(::fcntl(source.fd.get(), F_ADD_SEALS, kSealsOfOurs));
  source.claim = DescriptorClaim::try_make();
  return share_new(std::move(source), bytes);
}

Result<std::shared_ptr<Mapping>> Mapping::create_dma_buf(MemorySource from, size_t bytes,
                                                         const std::string& file_name) {
  Source source;
  MILLRACE_ASSIGN_OR_RETURN(source.fd, make_dma_buf(from, bytes, file_name));
  source.claim.emplace(DescriptorClaim::make());
  return share_new(std::move(source), bytes);
}

Result<std::shared_ptr<Mapping>> Mapping::share_new(Source source, size_t bytes) {
  source.is_new = true;
  if (::fstat(source.fd.get(), &source.info) != 0)
    return out_of_memory(bytes, std::strerror(errno));
  auto mapping = share(std::move(source), bytes);
  if (!mapping.ok()) return out_of_memory(bytes, mapping.status().message());
  return mapping;
}

Result<std::shared_ptr<Mapping>> Mapping::open(int fd, size_t bytes) {
  if (is_forked_child()) return forked_status();
  if (const Status usable = pass_descriptor_gate(); !usable.ok())
    return cannot_map(fd, bytes, usable.message());
  Source source;
  source.fd = duplicate(fd);
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
  // Memory of a bank is not cached, since it must be released when its last user is gone.
  if ((*mapping)->cached_ && !(*mapping)->made_here_) KeptMappings::of_process().keep(*mapping);
  return mapping;
}

Result<std::shared_ptr<Mapping>> Mapping::share(Source source, size_t bytes) {
  const Key key = source.key();
  // Declared before the lock, and so destroyed after it: ~Mapping locks the same mutex.
  std::shared_ptr<Mapping> found, made;
  const std::lock_guard lock(cache().mutex);
  const auto entry = cache().entries.find(key);
  if (entry != cache().entries.end()) found = entry->second.lock();
  if (found && found->bytes_ >= bytes) return found;
  MILLRACE_ASSIGN_OR_RETURN(made, map(std::move(source), bytes));
  if (made->cached_) {
    made->key_ = key;
    cache().entries.insert_or_assign(key, made);
  }
  return made;
}

Result<std::shared_ptr<Mapping>> Mapping::map(Source source, size_t bytes) {
  const int protection = source.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  const int fd = source.fd.get();
  void* data = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED && errno == ENOMEM) return out_of_memory(bytes, std::strerror(errno));
  if (data == MAP_FAILED) return io_error("mmap", errno);
  std::shared_ptr<Mapping> mapping = hold(data, bytes);
  mapping->is_dma_buf_ = memory::is_dma_buf(fd);
  mapping->made_here_ = source.is_new || is_made_here(fd, mapping->is_dma_buf_);
  const bool is_regular = S_ISREG(source.info.st_mode) && !mapping->is_dma_buf_;
  mapping->may_shrink_ = is_regular && !has_seals(fd, F_SEAL_SHRINK);
  mapping->writable_ = source.writable;
  if (source.claim) {
    mapping->fd_ = std::move(source.fd);
    mapping->claim_.emplace(*std::move(source.claim));
  }
  if (mapping->may_shrink_ || mapping->is_dma_buf_) mapping->access_entry_.emplace(mapping);
  // Not for other files: two descriptors of one device node may refer to different memory.
  mapping->cached_ = is_regular || mapping->is_dma_buf_;
  return mapping;
}

// Uses MAP_SHARED, so that the memory behaves like a memfd after fork().
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
    device_side_.reset();  // before munmap(), since its destructor reads the memory
  access_entry_.reset();
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
        "the memory has no descriptor, because the system forbids memfd_create or ftruncate "
        "(perhaps by a seccomp filter)");
  if (!fd_)
    return unsupported(fmt::format(
        "the memory has no descriptor, because memory uses at most half of them: raise the "
        "limit, which is {} (RLIMIT_NOFILE, `ulimit -n`)",
        DescriptorClaim::limit()));
  MILLRACE_RETURN_IF_ERROR(pass_descriptor_gate());
  UniqueFd copy = duplicate(fd_.get());
  if (!copy) return io_error("cannot duplicate the descriptor of a buffer", errno);
  return copy.release();
}

Status Mapping::check_size(size_t bytes) const noexcept {
  struct stat info = {};
  if (!fd_) return {};  // a new file, which no other process can open
  if (::fstat(fd_.get(), &info) != 0) return io_error("fstat", errno);
  if (info.st_size >= 0 && static_cast<size_t>(info.st_size) >= bytes) return {};
  return format_status(StatusCode::kIoError,
                       "the file behind the memory was truncated: it has {} of {} bytes",
                       info.st_size, bytes);
}

Status Mapping::begin_access(size_t bytes, Access access) const noexcept {
  if (may_shrink_ || is_dma_buf_) MILLRACE_RETURN_IF_ERROR(contained(pass_descriptor_gate));
  if (may_shrink_) MILLRACE_RETURN_IF_ERROR(check_size(bytes));
  return is_dma_buf_ ? begin_dma_buf_access(fd_.get(), access) : Status();
}

Status Mapping::end_access(Access access) const noexcept {
  return is_dma_buf_ ? end_dma_buf_access(fd_.get(), access) : Status();
}

}  // namespace millrace::memory
