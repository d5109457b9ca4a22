// TensorState: the state that all copies of one NpuTensor share: its description and its memory.
// Immutable after construction, and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "memory/buffer.h"
#include "vart/runner_log.h"
#include "vart/tensors/buffer_object.h"
#include "vart/vart_npu_tensor.hpp"

namespace vart {

class TensorState {
 public:
  using Pointer = std::shared_ptr<const TensorState>;

  // Wraps memory as NpuTensor's constructors document; throws what they throw. `read_only` is true
  // for memory that was passed as const.
  static Pointer wrap(const NpuTensorInfo& info, void* buffer, MemoryType type, bool read_only);
  // Allocates memory for `info`, which must be complete, in `bank`. Throws std::runtime_error.
  // `log` is the log of the runner, which later failures use.
  static Pointer allocate(const NpuTensorInfo& info, millrace::memory::Bank& bank,
                          std::shared_ptr<const millrace::vartml::RunnerLog> log);
  // Returns a tensor in a part of the memory of `parent`, from byte `offset` on. Throws
  // std::invalid_argument when the parent or the range is not valid, and std::runtime_error.
  static Pointer slice(const Pointer& parent, const NpuTensorInfo& info, size_t offset);

  static NpuTensor tensor_of(Pointer state) { return NpuTensor(std::move(state)); }
  // Null when the tensor is empty.
  static const Pointer& of(const NpuTensor& tensor) noexcept { return tensor.state_; }

  TensorState(const NpuTensorInfo& info, MemoryType type, bool read_only);
  ~TensorState();
  TensorState(const TensorState&) = delete;
  TensorState& operator=(const TensorState&) = delete;

  const NpuTensorInfo& info() const noexcept { return info_; }
  MemoryType type() const noexcept { return type_; }
  bool read_only() const noexcept { return read_only_; }  // wraps const memory
  bool writable() const noexcept { return writable_; }
  // The host address that jobs use; never null.
  void* data() const noexcept { return data_; }
  // The host access that a job must begin before it uses the memory and end afterwards.
  const millrace::memory::HostAccess& access() const noexcept { return access_; }
  // The device's own copy of the memory; null if it has none.
  millrace::memory::DeviceSide* device_side() const noexcept { return device_side_; }
  uint64_t physical_address() const noexcept;
  // The result of NpuTensor::get_buffer.
  void* handle() const noexcept;
  void sync() const;
  // Returns a new descriptor of the file behind the memory, which the caller closes; -1 if there is
  // none. Logs why, except for user pointers.
  int export_fd() const noexcept;

 private:
  void adopt(millrace::memory::Buffer buffer);
  int own_fd() const noexcept;

  const NpuTensorInfo info_;
  const MemoryType type_;
  const bool read_only_;
  bool writable_ = true;
  bool allocated_ = false;  // allocated by a runner, or a slice of such a tensor
  void* data_ = nullptr;
  millrace::memory::DeviceSide* device_side_ = nullptr;  // owned by buffer_
  millrace::memory::HostAccess access_;
  millrace::memory::Buffer buffer_;                              // only XRT_BO and DMA_FD
  millrace::memory::Buffer parent_;                              // only slices at offset 0
  std::shared_ptr<const millrace::vartml::RunnerLog> log_;       // only if allocated_
  std::optional<millrace::vartml::BufferObject> buffer_object_;  // only if allocated_
  void* wrapped_object_ = nullptr;                               // XRT_BO that the program passed
  mutable std::once_flag fd_once_;
  mutable int fd_ = -1;  // DMA_FD: exported by the first call of handle()
};

}  // namespace vart
