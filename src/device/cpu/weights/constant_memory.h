// ConstantMemory: where a program keeps the weights that it has packed.
//
// A job walks through all of them, megabytes that lie in pages of 4 KiB: then many first touches of
// a page wait for its address, and which cache lines they share is up to chance. So constants stand
// one behind the other in blocks that grow, and a large block asks the system for huge pages.
//
// To be used by one thread; what was taken may be read by any.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace millrace::device::cpu {

class ConstantMemory {
 public:
  // The alignment of a constant of that size.
  static size_t alignment_of(size_t bytes) noexcept;
  // Room for a constant of that size, aligned for any kernel, with undefined content. It is freed
  // with this object, wherever that is moved to. Throws std::bad_alloc.
  std::byte* take(size_t bytes);
  // Returns what keeps the room that was taken last, and its neighbours, without this object.
  std::shared_ptr<const void> owner_of_last() const;
  // Keeps memory that another object has taken for as long as this object lives.
  void hold(std::shared_ptr<const void> owner);

 private:
  struct FreeBlock {
    std::align_val_t alignment;
    void operator()(std::byte* block) const noexcept;
  };

  void add_block(size_t least_bytes);

  std::vector<std::shared_ptr<std::byte>> blocks_;
  std::vector<std::shared_ptr<const void>> held_;
  size_t last_bytes_ = 0;  // of the last block
  size_t used_ = 0;        // of it
};

}  // namespace millrace::device::cpu
