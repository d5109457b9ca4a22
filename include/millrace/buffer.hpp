// Buffer: memory that host and device both see, and TensorArg: memory bound to a tensor of a job.
//
// A Buffer is a reference-counted handle. Copies and slices share the memory, which lives until the
// last of them is gone and no job names it any more, whatever else was destroyed before. Handles
// may be copied and used from several threads; one handle object must not be assigned while another
// thread reads it. Access to the bytes is not synchronised: a job reads its inputs and writes its
// outputs at any time from submission to completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "millrace/status.hpp"
#include "millrace/tensor.hpp"

namespace millrace {

// Source of memory that can be exported.
//
//   kMemfd    the system's memory, which other processes can map; the default
//   kUdmabuf  the same, as a dma-buf, which devices of this machine can use, too: /dev/udmabuf
//   kDmaHeap  a dma-buf of the system's heap: /dev/dma_heap/system
enum class SharedMemory : uint8_t { kMemfd = 0, kUdmabuf = 1, kDmaHeap = 2 };

class Buffer {
 public:
  // An empty handle: data() is null, size() is 0.
  Buffer() noexcept = default;

  // New memory, page aligned, zero-filled, exportable as a file descriptor. kInvalidArgument for
  // size 0, kOutOfMemory if there is not enough memory. MILLRACE_SHARED_MEMORY names its source
  // (memfd, udmabuf, dma_heap): kInvalidArgument if it names none of these.
  static Result<Buffer> allocate(size_t bytes);
  // The same from that source; kUnsupported, with the device node and the system's reason, when the
  // process may not use it. Nothing else is taken instead.
  static Result<Buffer> allocate(size_t bytes, SharedMemory source);
  // The caller's memory, which must stay valid while any copy or slice of the buffer lives and
  // while a job names it. kInvalidArgument for a null pointer or size 0.
  static Result<Buffer> wrap(void* data, size_t bytes);
  // Maps the first `bytes` bytes of the file behind `fd` (a memfd, or a dma-buf where the kernel
  // has one), read only where the descriptor was opened so. The descriptor is duplicated: the
  // caller keeps and closes its own. kInvalidArgument, with the reason, when it cannot be mapped.
  static Result<Buffer> import_fd(int fd, size_t bytes);

  // A new descriptor for the whole file behind the buffer, close-on-exec, owned by the caller.
  // kUnsupported for wrapped memory, for slices, and for memory without a descriptor of its own:
  // what was made where memory held half of those that RLIMIT_NOFILE allows.
  Result<int> export_fd() const;
  // A view of `bytes` bytes from `offset`, which keeps the memory alive. kInvalidArgument for a
  // range that leaves the buffer, and for a slice of a slice.
  Result<Buffer> slice(size_t offset, size_t bytes) const;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  // False for an import whose descriptor was opened read only.
  bool writable() const noexcept { return writable_; }
  // The memory as elements of T, as many as fit. Requirement: data() is aligned for T.
  template <class T>
  std::span<T> span() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  // The device address: non-zero and page aligned for a whole buffer, distinct for live buffers.
  uint64_t device_address() const noexcept;

  // Makes host writes visible to the device, and device writes visible to the host. On the software
  // NPU both see one coherent memory; of a dma-buf, the first ends and the second begins the host's
  // access. kInvalidArgument for an empty buffer; kIoError when the file behind it was truncated.
  Status sync_for_device() const;
  Status sync_for_host() const;

  // Keeps the memory alive without the rest of the handle.
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

// One tensor of one frame of a job: which memory, in which view. Copied by the call that takes it.
struct TensorArg {
  TensorArg() noexcept = default;
  // The job keeps the buffer's memory alive until it is completed.
  TensorArg(const Buffer& buffer, View as = View::kCpu) noexcept
      : data(buffer.data()),
        bytes(buffer.size()),
        view(as),
        writable(buffer.writable()),
        owner(buffer.owner()) {}
  // The caller's memory, which must stay valid until the job is completed. A span of const elements
  // is good for inputs only.
  template <class T, size_t kExtent>
  TensorArg(std::span<T, kExtent> memory, View as = View::kCpu) noexcept
      : data(const_cast<std::remove_const_t<T>*>(memory.data())),
        bytes(memory.size_bytes()),
        view(as),
        writable(!std::is_const_v<T>) {}
  TensorArg(void* memory, size_t size, View as = View::kCpu) noexcept
      : data(memory), bytes(size), view(as), writable(true) {}

  void* data = nullptr;
  size_t bytes = 0;  // at least those of the view; checked when the job is submitted
  View view = View::kCpu;
  bool writable = false;
  std::shared_ptr<const void> owner;  // of the memory; empty where the caller keeps it
  // For a tensor with open dimensions (ViewInfo::is_open). For an input, it has the dimensions in
  // this job, read by the call that takes it; the memory must have at least what they take, and may
  // be null if that is nothing. For an output, the job writes the dimensions before its completion
  // is visible, so it must stay valid until then; null: they are not written. The memory of an
  // output may have any size: if the result does not fit, the job fails with kInvalidArgument, says
  // how many bytes it takes, and still writes the dimensions, so that the caller can submit again
  // with more. The rank is 0 if a job fails before the dimensions are known.
  // For other tensors, an input's shape must be the model's; an output's is written by the call.
  TensorShape* shape = nullptr;
};

}  // namespace millrace
