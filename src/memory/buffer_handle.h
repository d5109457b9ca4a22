// BufferHandle: registers a pointer as the handle of a buffer in a table of the process, as long as
// this object exists.
//
// Programs pass buffer objects between the libraries of the APIs as untyped pointers. The library
// that returned such a pointer registers it here, so that the others find the memory without
// dereferencing it. Thread-safe. In a forked child nothing is found.
#pragma once

#include "memory/buffer.h"

namespace millrace::memory {

class BufferHandle {
 public:
  // Requirement: no other BufferHandle has the same pointer at the same time.
  BufferHandle(const void* pointer, Buffer buffer);
  ~BufferHandle();
  BufferHandle(const BufferHandle&) = delete;
  BufferHandle& operator=(const BufferHandle&) = delete;

  // Replaces the registered pointer by another one, under the same requirement.
  void move_to(const void* pointer) noexcept;

  // Returns the buffer whose handle is `pointer`; an empty one if it is not registered. Never
  // dereferences the pointer, which may have any value.
  static Buffer find(const void* pointer);

 private:
  const void* pointer_;
  const Buffer buffer_;
};

}  // namespace millrace::memory
