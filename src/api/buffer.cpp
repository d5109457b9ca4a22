#include "millrace/buffer.hpp"

#include <utility>

#include "base/contained.h"
#include "base/status.h"
#include "memory/buffer.h"

namespace millrace {

struct Buffer::State {
  memory::Buffer memory;
};

Buffer::Buffer(std::shared_ptr<const State> state) noexcept
    : state_(std::move(state)),
      data_(state_->memory.data()),
      size_(state_->memory.size()),
      writable_(state_->memory.writable()) {}

// Returns a handle to the memory that `make` returns.
template <class Make>
Result<Buffer> Buffer::make(Make&& make) {
  return contained([&]() -> Result<Buffer> {
    MILLRACE_ASSIGN_OR_RETURN(memory::Buffer memory, make());
    return Buffer(std::make_shared<const State>(State{std::move(memory)}));
  });
}

Result<Buffer> Buffer::allocate(size_t bytes) {
  return make([&] { return memory::Buffer::allocate(bytes); });
}

Result<Buffer> Buffer::allocate(size_t bytes, SharedMemory source) {
  static_assert(static_cast<int>(SharedMemory::kUdmabuf) ==
                    static_cast<int>(memory::MemorySource::kUdmabuf) &&
                static_cast<int>(SharedMemory::kDmaHeap) ==
                    static_cast<int>(memory::MemorySource::kDmaHeap));
  if (source > SharedMemory::kDmaHeap)
    return invalid_argument("the source of shared memory is not one of SharedMemory");
  return make(
      [&] { return memory::Buffer::allocate(bytes, static_cast<memory::MemorySource>(source)); });
}

Result<Buffer> Buffer::wrap(void* data, size_t bytes) {
  return make([&] { return memory::Buffer::wrap(data, bytes); });
}

Result<Buffer> Buffer::import_fd(int fd, size_t bytes) {
  return make([&] { return memory::Buffer::import_fd(fd, bytes); });
}

Result<int> Buffer::export_fd() const {
  return state_ == nullptr ? memory::Buffer().export_fd() : state_->memory.export_fd();
}

Result<Buffer> Buffer::slice(size_t offset, size_t bytes) const {
  return make([&] {
    return state_ == nullptr ? memory::Buffer().slice(offset, bytes)
                             : state_->memory.slice(offset, bytes);
  });
}

uint64_t Buffer::device_address() const noexcept {
  return state_ == nullptr ? 0 : state_->memory.device_address();
}

Status Buffer::sync_for_device() const {
  return state_ == nullptr ? memory::Buffer().sync_for_device() : state_->memory.sync_for_device();
}

Status Buffer::sync_for_host() const {
  return state_ == nullptr ? memory::Buffer().sync_for_host() : state_->memory.sync_for_host();
}

}  // namespace millrace
