// BufferObject: the object to which NpuTensor::get_buffer points for an XRT_BO tensor. Programs
// hold the pointer as an opaque `xrt::bo*` and may pass it back to create another tensor, or a
// video frame, of the same memory.
#pragma once

#include "memory/buffer_handle.h"

namespace millrace::vartml {

class BufferObject {
 public:
  // memory::BufferHandle::find() finds the buffer by this object's address until the object is
  // destroyed. Thread-safe.
  explicit BufferObject(const memory::Buffer& buffer) : handle_(this, buffer) {}

 private:
  memory::BufferHandle handle_;
};

}  // namespace millrace::vartml
