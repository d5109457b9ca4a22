// MemoryBlock: uninitialised bytes of which one chosen byte is aligned for every tensor type, so
// that tensors that are received behind a header can be read where they lie. Move only; one thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace millrace::serve {

class MemoryBlock {
 public:
  static constexpr size_t kAlignment = 64;

  MemoryBlock() noexcept = default;
  MemoryBlock(MemoryBlock&& other) noexcept
      : block_(std::move(other.block_)),
        first_(std::exchange(other.first_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    block_ = std::move(other.block_);
    first_ = std::exchange(other.first_, 0);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // Makes `block` hold `bytes` bytes, of which byte `aligned_at` is aligned. False, with `block`
  // unchanged, if there is not enough memory.
  static bool allocate(size_t bytes, size_t aligned_at, MemoryBlock& block) noexcept {
    const size_t first = (kAlignment - aligned_at % kAlignment) % kAlignment;
    void* const memory = ::operator new(first + bytes, std::align_val_t(kAlignment), std::nothrow);
    if (memory == nullptr) return false;
    block.block_.reset(static_cast<std::byte*>(memory));
    block.first_ = first;
    block.size_ = bytes;
    return true;
  }

  // Gives up the bytes from `bytes` on, of those that there are.
  void truncate(size_t bytes) noexcept { size_ = bytes; }

  std::byte* data() const noexcept { return block_.get() + first_; }
  size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() const noexcept { return {data(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete(memory, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<std::byte, Free> block_;
  size_t first_ = 0, size_ = 0;
};

}  // namespace millrace::serve
