// vart::Memory, which calls its implementation, and the one that it has by default, over
// MappedBuffer.
#include "vart/vart_memory.hpp"

#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "vart/vart_memory_impl_vvas.hpp"
#include "vartx/buffers/mapped_buffer.h"

namespace vart {

using millrace::value_or_throw;
using millrace::memory::Buffer;
using millrace::memory::BufferKind;
using millrace::vartx::MappedBuffer;

MemoryImplBase::~MemoryImplBase() = default;

int MemoryImplBase::export_buffer() const {
  return -1;
}

class MemoryState {
 public:
  MemoryState(MemoryImplType type, Buffer buffer, std::shared_ptr<Device> device)
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

MemoryImplVvas::MemoryImplVvas(MemoryImplType type, size_t size, uint8_t,
                               std::shared_ptr<Device> device)
    : state_(std::make_unique<MemoryState>(type, allocate(type, size), std::move(device))) {}

MemoryImplVvas::MemoryImplVvas(MemoryImplType type, uint8_t* data, size_t size,
                               std::shared_ptr<Device> device)
    : state_(std::make_unique<MemoryState>(type, value_or_throw(Buffer::wrap(data, size), "Memory"),
                                           std::move(device))) {}

MemoryImplVvas::MemoryImplVvas(MemoryImplType type, int fd, size_t size,
                               std::shared_ptr<Device> device)
    : state_(std::make_unique<MemoryState>(
          type, value_or_throw(Buffer::import_fd(fd, size), "Memory"), std::move(device))) {}

MemoryImplVvas::~MemoryImplVvas() = default;

const uint8_t* MemoryImplVvas::map(DataMapFlags flags) {
  state_->memory.map(flags);
  return reinterpret_cast<const uint8_t*>(state_->memory.buffer().data());
}

void MemoryImplVvas::unmap() {
  state_->memory.unmap();
}

size_t MemoryImplVvas::get_size() {
  return state_->memory.buffer().size();
}

uint64_t MemoryImplVvas::get_physical_addr() {
  return state_->memory.device_address();
}

std::shared_ptr<Device> MemoryImplVvas::get_device_handle() const {
  return state_->device;
}

int MemoryImplVvas::export_buffer() const {
  return state_->memory.export_fd();
}

Memory::Memory(MemoryImplType type, size_t size, uint8_t mbank_idx, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplVvas>(type, size, mbank_idx, std::move(device))) {}

Memory::Memory(MemoryImplType type, uint8_t* data, size_t size, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplVvas>(type, data, size, std::move(device))) {}

Memory::Memory(MemoryImplType type, int fd, size_t size, std::shared_ptr<Device> device)
    : impl_(std::make_shared<MemoryImplVvas>(type, fd, size, std::move(device))) {}

Memory::Memory(std::shared_ptr<MemoryImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("Memory: the handle is null");
}

const uint8_t* Memory::map(DataMapFlags flags) {
  return impl_->map(flags);
}

void Memory::unmap() {
  impl_->unmap();
}

size_t Memory::get_size() {
  return impl_->get_size();
}

uint64_t Memory::get_physical_addr() {
  return impl_->get_physical_addr();
}

int Memory::export_buffer() const {
  return impl_->export_buffer();
}

std::shared_ptr<Device> Memory::get_device_handle() const {
  return impl_->get_device_handle();
}

const std::shared_ptr<MemoryImplBase>& Memory::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
