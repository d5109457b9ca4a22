// VART-X memories: plain bytes that functions and tensors share.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_MEMORY_HPP
#define VART_VART_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vart/vart_device.hpp"
#include "vart/vart_memory_impl_base.hpp"
#include "vart/vart_memory_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// A handle to `size` bytes; copies share them. May move between threads; not to be used by two at
// the same time. Constructors throw exceptions derived from std::exception.
class Memory {
 public:
  Memory() = delete;

  // Allocates `size` bytes in the bank `mbank_idx`; any bank is accepted.
  Memory(MemoryImplType type, size_t size, uint8_t mbank_idx, std::shared_ptr<Device> device);
  // Wraps the caller's `size` bytes, which must outlive every copy.
  Memory(MemoryImplType type, uint8_t* data, size_t size, std::shared_ptr<Device> device);
  // Imports the memory behind a file descriptor. The descriptor is duplicated: it stays the
  // caller's, and may be closed at once.
  Memory(MemoryImplType type, int fd, size_t size, std::shared_ptr<Device> device);
  // Memory of the program's own kind. Throws std::invalid_argument when `impl` is null.
  explicit Memory(std::shared_ptr<MemoryImplBase> impl);

  // The first byte, valid until unmap. Mapping again without an unmap, and never unmapping, are
  // allowed.
  const uint8_t* map(DataMapFlags flags);
  void unmap();

  size_t get_size();             // bytes
  uint64_t get_physical_addr();  // device address of the first byte; 0 for NON_CMA
  int export_buffer() const;     // a new descriptor, the caller's to close; negative on failure

  std::shared_ptr<Device> get_device_handle() const;
  const std::shared_ptr<MemoryImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<MemoryImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_MEMORY_HPP
