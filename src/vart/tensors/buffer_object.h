// BufferObject: what NpuTensor::get_buffer gives for an XRT_BO tensor. Programs hold it as an
// opaque `xrt::bo*` and may pass it back to make another tensor or a frame of the same memory.
#pragma once

#include "memory/buffer_handle.h"

namespace millrace::vartml {

class BufferObject {
 public:
  // BufferHandle::find knows the object until it is destroyed. Thread-safe.
  explicit BufferObject(const memory::Buffer& buffer) : handle_(this, buffer) {}

 private:
  memory::BufferHandle handle_;
};

}  // namespace millrace::vartml
