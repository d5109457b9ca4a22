// VART-X memories: what is behind a vart::Memory, for programs that bring memory of their own.
//
// Sources: the published VART-X documentation says that every module has such a base class to
// derive from; its functions are inferred from those of the class that programs call. Defines no
// macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_MEMORY_IMPL_BASE_HPP
#define VART_VART_MEMORY_IMPL_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vart/vart_device.hpp"
#include "vart/vart_memory_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// Memory calls the function of the same name. Functions of this library that are given a Memory use
// it in no other way, map it on the thread that calls them, and read or write get_size() bytes at
// most; what a function throws comes out of their call.
class MemoryImplBase {
 public:
  virtual ~MemoryImplBase();
  MemoryImplBase(const MemoryImplBase&) = delete;
  MemoryImplBase& operator=(const MemoryImplBase&) = delete;

  virtual const uint8_t* map(DataMapFlags flags) = 0;
  virtual void unmap() = 0;
  virtual size_t get_size() = 0;
  virtual uint64_t get_physical_addr() = 0;
  virtual std::shared_ptr<Device> get_device_handle() const = 0;
  // Unless overridden, -1: there is no descriptor.
  virtual int export_buffer() const;

 protected:
  MemoryImplBase() = default;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_MEMORY_IMPL_BASE_HPP
