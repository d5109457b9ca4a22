// Buffer: memory that host and device both see.
//
// A Buffer is a reference-counted handle; copies share the memory, and the memory lives until the
// last copy and the last slice are gone, whatever else was destroyed before. Handles may be copied
// and used from several threads; one handle object must not be assigned while another thread reads
// it. The caller decides what the bytes mean and synchronises access to them.
//
// Kinds:
//   heap      64-byte aligned, zero-filled; not exportable
//   shared    a memfd or a dma-buf, page aligned, zero-filled; exportable as a file descriptor
//   imported  made from a descriptor of other origin (memfd, dma-buf), which is duplicated: the
//             caller keeps and closes its own. Importing several descriptors of one file in one
//             process gives mappings of the same pages. The mappings of the last few foreign
//             files are kept (kept_mappings.h), so making such a buffer anew for every frame
//             maps nothing.
//   wrapped   the caller's memory, not owned; the caller keeps it alive
//
// Observers (base/hooks.h) get an event when a whole buffer is allocated or imported, and when its
// memory is freed. Slices cause events only when they are synced.
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
  // An empty handle: data() is null, size() is 0.
  Buffer() noexcept = default;

  // kInvalidArgument for size 0, kOutOfMemory when the memory cannot be allocated. `kind` is kHeap
  // or kShared.
  //
  // Shared memory comes from the source that the environment names (dma_buf.h): kInvalidArgument
  // when that is none, kUnsupported when the process may not use it.
  static Result<Buffer> allocate(size_t bytes, BufferKind kind = BufferKind::kShared);
  // A shared buffer from that source.
  static Result<Buffer> allocate(size_t bytes, MemorySource source);
  // A shared buffer in a bank, charged to it for as long as the memory lives, which includes
  // imports of its descriptor in this process. kOutOfMemory also when the bank is full.
  //
  // Under strict sync (device_side.h; this function reads the environment) the device gets its own
  // copy of the memory.
  static Result<Buffer> allocate_in(Bank& bank, size_t bytes);
  // Requirement: `data` holds `bytes` bytes for as long as any copy or slice lives.
  static Result<Buffer> wrap(void* data, size_t bytes);
  // Maps the first `bytes` bytes of the file behind `fd`, read and write, or read only where the
  // descriptor was opened so. kInvalidArgument, with the reason, when it is not a descriptor, is
  // too short, or cannot be mapped.
  static Result<Buffer> import_fd(int fd, size_t bytes);

  // A view of `bytes` bytes from `offset`; shares the memory. kInvalidArgument for a slice of a
  // slice and for a range that leaves the buffer.
  Result<Buffer> slice(size_t offset, size_t bytes) const;

  // The buffer that a slice is a part of; any other buffer itself.
  Buffer whole() const;
  // To be begun and ended around each access of the processor to the memory; empty for most. Of
  // wrapped memory, too, where that lies in memory that was imported.
  HostAccess host_access() const noexcept;

  // A new descriptor for the whole file behind the buffer, close-on-exec, owned by the caller. The
  // file of a shared buffer is sealed: its size cannot change.
  // kUnsupported for heap and wrapped memory, for slices, and for shared memory that was made
  // without a descriptor (descriptor_claim.h).
  Result<int> export_fd() const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::byte* data() const noexcept;
  size_t size() const noexcept;
  BufferKind kind() const noexcept;
  bool is_slice() const noexcept;
  bool writable() const noexcept;
  // The device address: non-zero and page-aligned for a whole buffer, distinct for live buffers,
  // and parent + offset for a slice. Two imports of one file have different addresses.
  uint64_t device_address() const noexcept;

  // The device's own copy of the memory, shared by imports in this process and by slices; null
  // where host and device see one memory. Lives as long as owner().
  DeviceSide* device_side() const noexcept;

  // Makes host writes visible to the device, and device writes visible to the host. On the software
  // NPU both see one coherent memory, so these only notify the observers, except for memory of
  // which the device has its own copy, and for dma-bufs: for those the first ends, and the second
  // begins, the host's access. kIoError, from the second, when the file behind it was truncated.
  Status sync_for_device(Access access = Access::kReadWrite) const;
  Status sync_for_host(Access access = Access::kReadWrite) const;

  // Keeps the memory alive without the rest of the handle.
  std::shared_ptr<const void> owner() const noexcept { return state_; }

 private:
  struct State;
  explicit Buffer(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace millrace::memory
