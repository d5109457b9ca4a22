// MappedBuffer: a buffer that programs map and unmap, in any order and number, and whose device
// address they may pass to kernels.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/address_entry.h"
#include "memory/buffer.h"
#include "vart/vart_memory_types.hpp"

namespace millrace::vartx {

class MappedBuffer {
 public:
  // Host memory has no device address.
  enum class Side : uint8_t { kHost, kDevice };
  MappedBuffer(memory::Buffer buffer, Side side);

  const memory::Buffer& buffer() const noexcept { return buffer_; }
  // Device address of the first byte; 0 for host memory.
  uint64_t device_address() const noexcept;

  // Makes what the device wrote visible to the host, for READ. Throws std::runtime_error where
  // WRITE is asked for and the memory can only be read, where the file behind it was truncated, and
  // where the exporter of a dma-buf refuses.
  //
  // Maps nest, since a program may have mapped what it passes to this library.
  void map(::vart::DataMapFlags flags);
  // Makes what the host wrote so far visible to the device, when any of the maps that are still
  // open was for WRITE, and ends one of them. Does nothing where none is.
  void unmap();

  // A new descriptor of the whole memory, the caller's to close; -1 where there is none, and the
  // log says why.
  int export_fd() const;

 private:
  memory::Buffer buffer_;
  std::unique_ptr<memory::AddressEntry> address_;  // null for host memory
  unsigned open_maps_ = 0;
  unsigned mapped_for_ = 0;  // flags: what all maps were for since none was open
};

}  // namespace millrace::vartx
