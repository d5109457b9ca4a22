// BufferHandle: makes a pointer known as the handle of a buffer, for as long as it lives.
//
// Programs pass buffer objects between libraries as untyped pointers. The library that gave out
// such a pointer registers it here, so that the others find the memory without reading what the
// pointer leads to. Thread-safe. A forked child knows no handles.
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

  // Makes another pointer the handle instead, under the same requirement.
  void move_to(const void* pointer) noexcept;

  // The buffer whose handle `pointer` is; empty when it is none. Never reads behind the pointer, so
  // any pointer may be asked for.
  static Buffer find(const void* pointer);

 private:
  const void* pointer_;
  const Buffer buffer_;
};

}  // namespace millrace::memory
