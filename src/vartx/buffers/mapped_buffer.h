// MappedBuffer: a buffer that programs map and unmap to access it from the host, and whose device
// address they may pass to kernels. Maps nest: a program may have mapped memory that it passes to
// VART-X, which maps it again. Not thread-safe.
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
  // Returns the device address of the first byte; 0 for host memory.
  uint64_t device_address() const noexcept;

  // Begins an access. With READ, makes data that the device has written visible to the host. Throws
  // std::runtime_error when WRITE is requested for read-only memory, when the file behind the
  // memory was truncated, and when the exporter of a DMA-BUF refuses.
  void map(::vart::DataMapFlags flags);
  // Ends one of the open maps. If any map since the buffer was last unmapped completely was for
  // WRITE, makes the data that the host has written visible to the device. Does nothing when no map
  // is open.
  void unmap();

  // Returns a new descriptor of the whole memory, which the caller closes; -1 if there is none, and
  // logs why.
  int export_fd() const;

 private:
  memory::Buffer buffer_;
  std::unique_ptr<memory::AddressEntry> address_;  // null for host memory
  unsigned open_maps_ = 0;
  unsigned mapped_for_ = 0;  // flags of all maps since the buffer was last unmapped completely
};

}  // namespace millrace::vartx
