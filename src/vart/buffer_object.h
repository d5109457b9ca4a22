// BufferObject: what NpuTensor::get_buffer gives for an XRT_BO tensor. Programs hold it as an
// opaque `xrt::bo*` and may pass it back to make another tensor of the same memory.
#pragma once

#include "memory/buffer.h"

namespace millrace::vartml {

class BufferObject {
 public:
  // Known to find() until it is destroyed. Thread-safe.
  explicit BufferObject(memory::Buffer buffer);
  ~BufferObject();
  BufferObject(const BufferObject&) = delete;
  BufferObject& operator=(const BufferObject&) = delete;

  const memory::Buffer& buffer() const noexcept { return buffer_; }

  // The memory of the object at `pointer`; empty when no such object is alive. Never looks behind
  // the pointer otherwise, so any pointer may be asked for.
  static memory::Buffer find(const void* pointer);

 private:
  memory::Buffer buffer_;
};

}  // namespace millrace::vartml
