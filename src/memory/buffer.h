// Buffer: memory that host and device share.
//
// A Buffer is a reference-counted handle: copies share the memory, which exists until the last copy
// and the last slice are destroyed. Like a shared pointer, a handle may be copied and used on
// several threads, but must not be assigned while another thread reads it. The caller synchronises
// access to the bytes.
//
// Kinds:
//   heap      64-byte aligned, zero-filled; not exportable
//   shared    a memfd or a dma-buf, page aligned, zero-filled; exportable as a file descriptor
//   imported  a mapping of the file behind a descriptor (memfd, dma-buf), which is duplicated: the
//             caller keeps and closes its own. Importing several descriptors of one file in one
//             process gives mappings of the same pages. The mappings of the files of other origin
//             that were used last are cached (kept_mappings.h), so that importing the same file for
//             every frame maps nothing.
//   wrapped   the caller's memory, which is not owned; the caller keeps it alive
//
// Observers (base/hooks.h) are notified when a whole buffer is allocated or imported, when its
// memory is freed, and when a buffer or a slice is synced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "memory/bank.h"
#include "memory/device_side.h"
#include "memory/dma_buf.h"
#include "memory/host_access.h"

namespace millrace::memory {

enum class BufferKind : uint8_t { kHeap, kShared, kImported, kWrapped };

class Buffer {
 public:
  // Makes an empty handle: data() is null, size() is 0.
  Buffer() noexcept = default;

  // Allocates memory of the kind kHeap or kShared. kInvalidArgument for size 0, kOutOfMemory when
  // the memory cannot be allocated.
  //
  // Shared memory comes from the source that the environment selects (dma_buf.h): kInvalidArgument
  // for an unknown source, kUnsupported for one that the process cannot use.
  static Result<Buffer> allocate(size_t bytes, BufferKind kind = BufferKind::kShared);
  // Allocates shared memory from the given source.
  static Result<Buffer> allocate(size_t bytes, MemorySource source);
  // Allocates shared memory from the source of the environment, in a file of whole pages, as a
  // DMA-BUF is: an import of the exported file has their size. size() is `bytes` all the same.
  static Result<Buffer> allocate_pages(size_t bytes);
  // Allocates shared memory in a bank. It is charged to the bank as long as it exists, which
  // includes imports of its descriptor in this process. kOutOfMemory also when the bank is full.
  //
  // Under strict sync (device_side.h; this function reads the environment) the device gets its own
  // copy of the memory.
  static Result<Buffer> allocate_in(Bank& bank, size_t bytes);
  // Wraps memory of the caller. Requirement: there are `bytes` bytes at `data` as long as any copy
  // or slice exists.
  static Result<Buffer> wrap(void* data, size_t bytes);
  // Maps the first `bytes` bytes of the file behind `fd`, read and write, or read only where the
  // descriptor was opened so. kInvalidArgument, with the reason, when it is not a descriptor, is
  // too short, or cannot be mapped.
  static Result<Buffer> import_fd(int fd, size_t bytes);

  // Returns a view of `bytes` bytes from `offset` on, which shares the memory. kInvalidArgument for
  // a slice of a slice, an empty range, and a range that exceeds the buffer.
  Result<Buffer> slice(size_t offset, size_t bytes) const;

  // Returns the whole buffer of a slice; for any other buffer, the buffer itself.
  Buffer whole() const;
  // Returns the host access that must be begun before each access of the processor to the memory
  // and ended after it. It is empty for most buffers, but not for wrapped memory within an imported
  // buffer that needs it.
  HostAccess host_access() const noexcept;

  // Returns a new close-on-exec descriptor for the whole file behind the buffer, which the caller
  // closes. The file of a shared buffer is sealed: its size cannot change. kUnsupported for heap
  // and wrapped memory, for slices, and for shared memory without a descriptor
  // (descriptor_claim.h).
  Result<int> export_fd() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::byte* data() const noexcept;
  size_t size() const noexcept;
  BufferKind kind() const noexcept;
  bool is_slice() const noexcept;
  bool writable() const noexcept;
  // The device address. It is non-zero, page-aligned and unique for a whole buffer, and that of the
  // whole buffer plus the offset for a slice. Two imports of one file have different addresses.
  uint64_t device_address() const noexcept;

  // The device's own copy of the memory, which imports in this process and slices share; null if
  // host and device access the same memory. It exists as long as owner().
  DeviceSide* device_side() const noexcept;

  // Make host writes visible to the device, and device writes visible to the host. On the software
  // NPU both access the same coherent memory, so these only notify the observers, with two
  // exceptions: memory of which the device has its own copy is copied, and for memory with a
  // HostAccess (host_access.h) the first function ends, and the second begins, the host's access.
  // kIoError, from the second, when the file behind the memory was truncated.
  Status sync_for_device(Access access = Access::kReadWrite) const;
  Status sync_for_host(Access access = Access::kReadWrite) const;

  // Returns a reference that keeps the memory alive.
  std::shared_ptr<const void> owner() const noexcept { return state_; }

 private:
  struct State;
  explicit Buffer(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace millrace::memory
