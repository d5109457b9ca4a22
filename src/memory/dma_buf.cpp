// The ioctls of DMA-BUFs, /dev/udmabuf and DMA heaps (linux/dma-buf.h, linux/udmabuf.h,
// linux/dma-heap.h).
#include "memory/dma_buf.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/magic.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/align.h"
#include "base/cancellation.h"
#include "base/settings/environment.h"
#include "memory/kept_mappings.h"

namespace millrace::memory {
namespace {

constexpr std::string_view kNames[] = {"memfd", "udmabuf", "dma_heap"};
constexpr const char* kUdmabufNode = "/dev/udmabuf";
constexpr const char* kDmaHeapNode = "/dev/dma_heap/system";

const char* node_of(MemorySource source) noexcept {
  return source == MemorySource::kUdmabuf ? kUdmabufNode : kDmaHeapNode;
}

Status sync(int fd, uint64_t flags) noexcept {
  dma_buf_sync request{};
  request.flags = flags;
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0)
    if (errno != EINTR && errno != EAGAIN) return io_error("DMA_BUF_IOCTL_SYNC", errno);
  return {};
}

uint64_t sync_flags(Access access) noexcept {
  static_assert(static_cast<uint64_t>(Access::kRead) == DMA_BUF_SYNC_READ &&
                static_cast<uint64_t>(Access::kReadWrite) == DMA_BUF_SYNC_RW);
  return static_cast<uint64_t>(access);
}

// Returns the code for a node that cannot be opened. A lack of memory or descriptors may be
// temporary, while a missing or forbidden node is not.
StatusCode code_of(int error) noexcept {
  if (error == EMFILE || error == ENFILE) return StatusCode::kResourceExhausted;
  return error == ENOMEM ? StatusCode::kOutOfMemory : StatusCode::kUnsupported;
}

Result<UniqueFd> open_node(MemorySource source) {
  const CancellationOff whole;
  UniqueFd node = open_descriptor([&] { return ::open(node_of(source), O_RDWR | O_CLOEXEC); });
  if (node) return node;
  const int error = errno;
  return Status(code_of(error),
                fmt::format("cannot open {}: {}", node_of(source), std::strerror(error)));
}

Status refused(MemorySource source, size_t bytes, int error) {
  return {StatusCode::kOutOfMemory,
          fmt::format("cannot allocate {} bytes of shared memory: {}: {}{}", bytes, node_of(source),
                      std::strerror(error),
                      source == MemorySource::kUdmabuf && error == EINVAL
                          ? " (/sys/module/udmabuf/parameters/size_limit_mb limits a buffer)"
                          : "")};
}

// Makes a DMA-BUF of the pages of a memfd. It keeps the pages, so the descriptor of the memfd is
// closed.
Result<UniqueFd> make_udmabuf(const UniqueFd& node, size_t bytes, const std::string& name) {
  const size_t whole_pages = align_up(bytes, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  const UniqueFd file = open_descriptor(
      [&] { return ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING); });
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(whole_pages)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return refused(MemorySource::kUdmabuf, bytes, errno);
  udmabuf_create request{};
  request.memfd = static_cast<uint32_t>(file.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = whole_pages;
  UniqueFd made = open_descriptor([&] { return ::ioctl(node.get(), UDMABUF_CREATE, &request); });
  if (!made) return refused(MemorySource::kUdmabuf, bytes, errno);
  return made;
}

Result<UniqueFd> allocate_from_heap(const UniqueFd& node, size_t bytes) {
  dma_heap_allocation_data request{};
  request.len = bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  UniqueFd made = open_descriptor([&] {
    return ::ioctl(node.get(), DMA_HEAP_IOCTL_ALLOC, &request) == 0 ? static_cast<int>(request.fd)
                                                                    : -1;
  });
  if (!made) return refused(MemorySource::kDmaHeap, bytes, errno);
  return made;
}

}  // namespace

bool is_dma_buf(int fd) noexcept {
  struct statfs info = {};
  return ::fstatfs(fd, &info) == 0 && info.f_type == DMA_BUF_MAGIC;
}

Status begin_dma_buf_access(int fd, Access access) noexcept {
  return sync(fd, DMA_BUF_SYNC_START | sync_flags(access));
}

Status end_dma_buf_access(int fd, Access access) noexcept {
  return sync(fd, DMA_BUF_SYNC_END | sync_flags(access));
}

std::string_view to_string(MemorySource source) noexcept {
  return kNames[static_cast<size_t>(source)];
}

Result<MemorySource> memory_source_of_environment() {
  const std::string_view word = environment_variable(kMemorySourceVariable);
  if (word.empty()) return MemorySource::kMemfd;
  const auto* const found = std::ranges::find(kNames, word);
  if (found == std::end(kNames))
    return invalid_argument(fmt::format("{} is \"{}\", but must be one of {}",
                                        kMemorySourceVariable, word, fmt::join(kNames, ", ")));
  return static_cast<MemorySource>(found - kNames);
}

Status check_source(MemorySource source) {
  return source == MemorySource::kMemfd ? Status() : open_node(source).status();
}

Result<UniqueFd> make_dma_buf(MemorySource source, size_t bytes, const std::string& name) {
  const Result<UniqueFd> node = open_node(source);
  if (!node.ok())
    return node.status().with_context(fmt::format("no shared memory from {}", to_string(source)));
  MILLRACE_ASSIGN_OR_RETURN(UniqueFd made, source == MemorySource::kUdmabuf
                                               ? make_udmabuf(*node, bytes, name)
                                               : allocate_from_heap(*node, bytes));
  // The name is only informative, in /proc.
  const std::string shown = name.substr(0, DMA_BUF_NAME_LEN - 1);
  static_cast<void>(::ioctl(made.get(), DMA_BUF_SET_NAME_B, shown.c_str()));
  return made;
}

}  // namespace millrace::memory
