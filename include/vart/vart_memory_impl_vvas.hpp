// VART-X memories: the implementation that a vart::Memory has by default, and the buffer objects
// and devices of XRT, which older programs take from this header.
//
// Sources: the name of the header and that of its class are published; the functions of the class
// are inferred from those of vart::Memory. Defines no macro of its own and no name outside
// namespace vart. C++17 and later.
#ifndef VART_VART_MEMORY_IMPL_VVAS_HPP
#define VART_VART_MEMORY_IMPL_VVAS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vart/vart_memory.hpp"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

namespace vart {
class MemoryState;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// get_pimpl_handle() of a Memory points to one, unless the program has brought another
// implementation. The constructors and functions are those of Memory.
class MemoryImplVvas : public MemoryImplBase {
 public:
  MemoryImplVvas(MemoryImplType type, size_t size, uint8_t mbank_idx,
                 std::shared_ptr<Device> device);
  MemoryImplVvas(MemoryImplType type, uint8_t* data, size_t size, std::shared_ptr<Device> device);
  MemoryImplVvas(MemoryImplType type, int fd, size_t size, std::shared_ptr<Device> device);
  ~MemoryImplVvas() override;

  const uint8_t* map(DataMapFlags flags) override;
  void unmap() override;
  size_t get_size() override;
  uint64_t get_physical_addr() override;
  std::shared_ptr<Device> get_device_handle() const override;
  int export_buffer() const override;

 private:
  std::unique_ptr<MemoryState> state_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_MEMORY_IMPL_VVAS_HPP
