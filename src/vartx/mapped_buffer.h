// MappedBuffer: a buffer that programs map and unmap, in any order and number.
#pragma once

#include <utility>

#include "memory/buffer.h"
#include "vart/vart_memory_types.hpp"

namespace millrace::vartx {

class MappedBuffer {
 public:
  MappedBuffer() noexcept = default;
  explicit MappedBuffer(memory::Buffer buffer) : buffer_(std::move(buffer)) {}

  const memory::Buffer& buffer() const noexcept { return buffer_; }

  // Makes what the device wrote visible to the host, for READ. Throws std::runtime_error where
  // WRITE is asked for and the memory can only be read.
  void map(::vart::DataMapFlags flags);
  // Makes what the host wrote visible to the device, after a map for WRITE; else does nothing.
  void unmap();

  // A new descriptor of the whole memory, the caller's to close; -1 where there is none, and the
  // log says why.
  int export_fd() const;

 private:
  memory::Buffer buffer_;
  bool mapped_for_writing_ = false;
};

}  // namespace millrace::vartx
