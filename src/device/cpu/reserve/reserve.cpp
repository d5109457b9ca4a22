#include "device/cpu/reserve/reserve.h"

#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <new>

namespace millrace::device::cpu::reserve {
namespace {

// Several times what makes the largest primitive.
constexpr size_t kBytes = size_t{64} << 20;
alignas(4096) constinit std::byte region[kBytes];

using Algorithm = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family,
                                                       boost::interprocess::offset_ptr<void>>;

constinit std::mutex mutex;
// Lives at the beginning of the region, from the first use on.
constinit Algorithm* algorithm = nullptr;
constinit size_t capacity = 0;  // of the region without the algorithm's own data
constinit std::atomic<size_t> used{0};

Algorithm& locked_algorithm() noexcept {
  if (algorithm == nullptr) {
    algorithm = new (region) Algorithm(kBytes, 0);
    capacity = algorithm->get_free_memory();
  }
  return *algorithm;
}

void note_use() noexcept {
  used.store(capacity - algorithm->get_free_memory(), std::memory_order_relaxed);
}

}  // namespace

size_t bytes_free() noexcept {
  return kBytes - used.load(std::memory_order_relaxed);
}

void* allocate(size_t bytes, size_t alignment) noexcept {
  const std::lock_guard lock(mutex);
  void* const memory = locked_algorithm().allocate_aligned(bytes, alignment);
  note_use();
  return memory;
}

bool owns(const void* memory) noexcept {
  const std::less<const void*> before;
  return !before(memory, region) && before(memory, region + kBytes);
}

size_t size_of(const void* memory) noexcept {
  const std::lock_guard lock(mutex);
  return locked_algorithm().size(memory);
}

void release(void* memory) noexcept {
  const std::lock_guard lock(mutex);
  locked_algorithm().deallocate(memory);
  note_use();
}

}  // namespace millrace::device::cpu::reserve
