// TensorState: what the copies of one NpuTensor share. Immutable once made, and thread-safe.
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

  // Wraps memory as NpuTensor's constructors describe; throws what they throw. `read_only` is for
  // memory that was given as const.
  static Pointer wrap(const NpuTensorInfo& info, void* buffer, MemoryType type, bool read_only);
  // New memory in `bank` for `info`, which must be complete. Throws std::runtime_error. The log is
  // that of the runner.
  static Pointer allocate(const NpuTensorInfo& info, millrace::memory::Bank& bank,
                          std::shared_ptr<const millrace::vartml::RunnerLog> log);
  // Part of the memory of `parent`. Throws std::invalid_argument, std::runtime_error.
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
  bool read_only() const noexcept { return read_only_; }  // made from const memory
  bool writable() const noexcept { return writable_; }
  // The host address for running jobs; never null.
  void* data() const noexcept { return data_; }
  // The access that a job begins and ends around its use of the memory.
  const millrace::memory::HostAccess& access() const noexcept { return access_; }
  // The device's own copy of the memory; null where there is none.
  millrace::memory::DeviceSide* device_side() const noexcept { return device_side_; }
  uint64_t physical_address() const noexcept;
  // The result of NpuTensor::get_buffer.
  void* handle() const noexcept;
  void sync() const;
  // -1 where there is none, and the log says why, unless it is a user pointer.
  int export_fd() const noexcept;

 private:
  void adopt(millrace::memory::Buffer buffer);
  int own_fd() const noexcept;

  const NpuTensorInfo info_;
  const MemoryType type_;
  const bool read_only_;
  bool writable_ = true;
  bool allocated_ = false;  // by a runner, or part of such
  void* data_ = nullptr;
  millrace::memory::DeviceSide* device_side_ = nullptr;  // of buffer_
  millrace::memory::HostAccess access_;
  millrace::memory::Buffer buffer_;                              // XRT_BO and DMA_FD
  millrace::memory::Buffer parent_;                              // of a slice that begins with it
  std::shared_ptr<const millrace::vartml::RunnerLog> log_;       // allocated ones
  std::optional<millrace::vartml::BufferObject> buffer_object_;  // allocated ones
  void* wrapped_object_ = nullptr;                               // XRT_BO that was passed in
  mutable std::once_flag fd_once_;
  mutable int fd_ = -1;  // DMA_FD: made when get_buffer first asks for it
};

}  // namespace vart
