#include "device/cpu/weights/constant_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/align.h"

namespace millrace::device::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Blocks double from the first size to the last: what is not used of one is never touched.
constexpr size_t kFirstBlock = size_t{64} << 10;
constexpr size_t kLastBlock = size_t{32} << 20;

// Constants below a page begin with one of these, others with a page, as the kernel library does.
constexpr size_t kCacheLine = 64;

}  // namespace

size_t ConstantMemory::alignment_of(size_t bytes) noexcept {
  return bytes < kPage ? kCacheLine : kPage;
}

std::byte* ConstantMemory::take(size_t bytes) {
  const size_t alignment = alignment_of(bytes);
  size_t begin = align_up(used_, alignment);
  if (blocks_.empty() || begin > last_bytes_ || bytes > last_bytes_ - begin) {
    add_block(bytes);
    begin = 0;
  }
  used_ = begin + bytes;
  return blocks_.back().get() + begin;
}

std::shared_ptr<const void> ConstantMemory::owner_of_last() const {
  return blocks_.back();
}

void ConstantMemory::hold(std::shared_ptr<const void> owner) {
  held_.push_back(std::move(owner));
}

void ConstantMemory::add_block(size_t least_bytes) {
  // The aligned operator new of g++ 12 rounds a size near the largest one up to 0.
  if (least_bytes > std::numeric_limits<ptrdiff_t>::max()) throw std::bad_alloc();
  const size_t grown = std::clamp(2 * last_bytes_, kFirstBlock, kLastBlock);
  const size_t bytes = std::max(grown, least_bytes);
  const bool is_large = bytes >= kHugePage;
  const std::align_val_t alignment{is_large ? kHugePage : kPage};
  std::shared_ptr<std::byte> block(static_cast<std::byte*>(::operator new(bytes, alignment)),
                                   FreeBlock{alignment});
  // The end of the block that fills no huge page stays in small ones. If the system grants no huge
  // pages, nothing is lost but time.
  if (is_large)
    static_cast<void>(::madvise(block.get(), bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
  blocks_.push_back(std::move(block));
  last_bytes_ = bytes;
  used_ = 0;
}

void ConstantMemory::FreeBlock::operator()(std::byte* block) const noexcept {
  ::operator delete(block, alignment);
}

}  // namespace millrace::device::cpu
