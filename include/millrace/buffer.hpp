// Buffer: memory that host and device share, and TensorArg: memory bound to a tensor of a job.
//
// A Buffer is a reference-counted handle. Copies and slices share the memory, which lives until the
// last of them is gone and no job refers to it any more, whatever else was destroyed before.
// Handles may be copied and used from several threads; one handle object must not be assigned while
// another thread reads it. Access to the bytes is not synchronised: a job may read its inputs and
// write its outputs at any time from submission to completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "millrace/status.hpp"
#include "millrace/tensor.hpp"

namespace millrace {

// The source of memory that can be exported as a file descriptor.
//
//   kMemfd    a memfd, which other processes can map; the default
//   kUdmabuf  a memfd as a DMA-BUF, which devices of this machine can use, too (/dev/udmabuf)
//   kDmaHeap  a DMA-BUF of the system heap (/dev/dma_heap/system)
enum class SharedMemory : uint8_t { kMemfd = 0, kUdmabuf = 1, kDmaHeap = 2 };

class Buffer {
 public:
  // Creates an empty handle: data() is null, size() is 0.
  Buffer() noexcept = default;

  // Allocates memory that is page aligned, zero-filled and exportable as a file descriptor.
  // kInvalidArgument for size 0, kOutOfMemory if there is not enough memory. The environment
  // variable MILLRACE_SHARED_MEMORY selects its source (memfd, udmabuf or dma_heap);
  // kInvalidArgument for any other value.
  static Result<Buffer> allocate(size_t bytes);
  // Allocates from `source` only. kUnsupported, with the device node and the system's reason, if
  // the process may not use it.
  static Result<Buffer> allocate(size_t bytes, SharedMemory source);
  // Wraps the caller's memory, which must stay valid while any copy or slice of the buffer lives
  // and while a job refers to it. kInvalidArgument for a null pointer or size 0.
  static Result<Buffer> wrap(void* data, size_t bytes);
  // Maps the first `bytes` bytes of the file behind `fd` (a memfd, or a DMA-BUF), read-only if the
  // descriptor was opened read-only. The descriptor is duplicated: the caller keeps and closes its
  // own. kInvalidArgument, with the reason, if it cannot be mapped.
  static Result<Buffer> import_fd(int fd, size_t bytes);

  // Returns a new descriptor for the whole file behind the buffer, close-on-exec, owned by the
  // caller. kUnsupported for wrapped memory, for slices, and for memory that keeps no descriptor:
  // memory that was allocated when buffers already held half of the descriptors that RLIMIT_NOFILE
  // allows.
  Result<int> export_fd() const;
  // Returns a buffer for `bytes` bytes from `offset` on, which keeps the memory alive.
  // kInvalidArgument for a range outside the buffer, and for a slice of a slice.
  Result<Buffer> slice(size_t offset, size_t bytes) const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  // Returns false for an import whose descriptor was opened read-only.
  bool writable() const noexcept { return writable_; }
  // Returns the memory as elements of T, as many as fit. Requirement: data() is aligned for T.
  template <class T>
  std::span<T> span() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  // Returns the device address: non-zero and page aligned for a whole buffer, distinct for live
  // buffers.
  uint64_t device_address() const noexcept;

  // Make host writes visible to the device, and device writes visible to the host. On the software
  // NPU both see one coherent memory; for a DMA-BUF, the first ends and the second begins the
  // host's access. kInvalidArgument for an empty buffer; kIoError if the file behind it was
  // truncated.
  Status sync_for_device() const;
  Status sync_for_host() const;

  // Returns a pointer that keeps the memory alive without the handle.
  std::shared_ptr<const void> owner() const noexcept { return state_; }

 private:
  struct State;
  template <class Make>
  static Result<Buffer> make(Make&& make);
  explicit Buffer(std::shared_ptr<const State> state) noexcept;
  std::shared_ptr<const State> state_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  bool writable_ = false;
};

// One tensor of one frame of a job: its memory, and the view in which that is used. The call that
// takes it copies it.
struct TensorArg {
  TensorArg() noexcept = default;
  // The job keeps the buffer's memory alive until it is completed.
  TensorArg(const Buffer& buffer, View as = View::kCpu) noexcept
      : data(buffer.data()),
        bytes(buffer.size()),
        view(as),
        writable(buffer.writable()),
        owner(buffer.owner()) {}
  // Refers to the caller's memory, which must stay valid until the job is completed. A span of
  // const elements can be bound to inputs only.
  template <class T, size_t kExtent>
  TensorArg(std::span<T, kExtent> memory, View as = View::kCpu) noexcept
      : data(const_cast<std::remove_const_t<T>*>(memory.data())),
        bytes(memory.size_bytes()),
        view(as),
        writable(!std::is_const_v<T>) {}
  TensorArg(void* memory, size_t size, View as = View::kCpu) noexcept
      : data(memory), bytes(size), view(as), writable(true) {}

  void* data = nullptr;
  size_t bytes = 0;  // at least the bytes of the view; checked when the job is submitted
  View view = View::kCpu;
  bool writable = false;
  std::shared_ptr<const void> owner;  // owner of the memory; empty if the caller owns it
  // The dimensions of the tensor in this job. They are required for inputs with open dimensions
  // (ViewInfo::is_open) and optional, so may be null, for all other tensors.
  //
  // Open input: the call that takes this object reads the dimensions. The memory must be large
  // enough for them, and may be null if they have no elements.
  //
  // Open output: the job writes the dimensions before its completion is visible, so `shape` must
  // stay valid until then. The memory may have any size: if the result does not fit, the job fails
  // with kInvalidArgument, its message says how many bytes are needed, and the dimensions are still
  // written, so that the caller can submit again with more memory. The rank is 0 if a job fails
  // before the dimensions are known.
  //
  // Tensor without open dimensions: the shape of an input must be the model's; the call writes the
  // shape of an output.
  TensorShape* shape = nullptr;
};

}  // namespace millrace
