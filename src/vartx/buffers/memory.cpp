#include "vart/vart_memory.hpp"

#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "vartx/buffers/mapped_buffer.h"

namespace vart {

using millrace::value_or_throw;
using millrace::memory::Buffer;
using millrace::memory::BufferKind;
using millrace::vartx::MappedBuffer;

class MemoryImplBase {
 public:
  MemoryImplBase(MemoryImplType type, Buffer buffer, std::shared_ptr<Device> device)
      : memory(std::move(buffer), type == MemoryImplType::XRT ? MappedBuffer::Side::kDevice
                                                              : MappedBuffer::Side::kHost),
        device(std::move(device)) {}

  MappedBuffer memory;
  const std::shared_ptr<Device> device;
};

namespace {

BufferKind kind_of(MemoryImplType type) {
  switch (type) {
    case MemoryImplType::XRT:
      return BufferKind::kShared;
    case MemoryImplType::NON_CMA:
      return BufferKind::kHeap;
  }
  throw std::invalid_argument("Memory: the type is neither XRT nor NON_CMA");
}

Buffer allocate(MemoryImplType type, size_t size) {
  return value_or_throw(Buffer::allocate(size, kind_of(type)), "Memory");
}

}  // namespace

Memory::Memory(MemoryImplType type, size_t size, uint8_t, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplBase>(type, allocate(type, size), std::move(device))) {}

Memory::Memory(MemoryImplType type, uint8_t* data, size_t size, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplBase>(
          type, value_or_throw(Buffer::wrap(data, size), "Memory"), std::move(device))) {}

Memory::Memory(MemoryImplType type, int fd, size_t size, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplBase>(
          type, value_or_throw(Buffer::import_fd(fd, size), "Memory"), std::move(device))) {}

Memory::Memory(std::shared_ptr<MemoryImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("Memory: the handle is null");
}

const uint8_t* Memory::map(DataMapFlags flags) {
  impl_->memory.map(flags);
  return reinterpret_cast<const uint8_t*>(impl_->memory.buffer().data());
}

void Memory::unmap() {
  impl_->memory.unmap();
}

size_t Memory::get_size() {
  return impl_->memory.buffer().size();
}

uint64_t Memory::get_physical_addr() {
  return impl_->memory.device_address();
}

int Memory::export_buffer() const {
  return impl_->memory.export_fd();
}

std::shared_ptr<Device> Memory::get_device_handle() const {
  return impl_->device;
}

const std::shared_ptr<MemoryImplBase>& Memory::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
