#include "graph/arena_blocks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace millrace::graph {
namespace {

// The free ranges of an arena that grows at its end, by offset and by size. Adjacent free ranges
// are merged.
class FreeRanges {
 public:
  // Returns the beginning of the smallest free range of at least `bytes` bytes. If there is none,
  // the arena grows.
  size_t take(size_t bytes) {
    const auto range = by_size_.lower_bound({bytes, 0});
    if (range == by_size_.end()) return extend(bytes);
    const auto [size, offset] = *range;
    remove(by_offset_.find(offset));
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(size_t offset, size_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = remove(next);
    }
    if (next != by_offset_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        remove(previous);
      }
    }
    add(offset, bytes);
  }

  size_t arena_bytes() const { return end_; }

 private:
  using ByOffset = std::map<size_t, size_t>;

  // Grows the arena. A free range at its end becomes part of the range that is taken.
  size_t extend(size_t bytes) {
    size_t offset = end_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        remove(last);
      }
    }
    end_ = saturating_add(offset, bytes);
    return offset;
  }

  void add(size_t offset, size_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }

  ByOffset::iterator remove(ByOffset::iterator range) {
    by_size_.erase({range->second, range->first});
    return by_offset_.erase(range);
  }

  ByOffset by_offset_;                           // from offset to size
  std::set<std::pair<size_t, size_t>> by_size_;  // pairs of size and offset
  size_t end_ = 0;
};

}  // namespace

size_t place_by_time(std::vector<Block>& blocks) {
  std::vector<Block*> order;
  order.reserve(blocks.size());
  for (Block& block : blocks)
    if (block.bytes > 0) order.push_back(&block);
  std::ranges::stable_sort(order, [](const Block* a, const Block* b) {
    return std::tuple(a->first, b->bytes) < std::tuple(b->first, a->bytes);
  });
  const auto ends_later = [](const Block* a, const Block* b) { return a->last > b->last; };
  std::priority_queue<const Block*, std::vector<const Block*>, decltype(ends_later)> used(
      ends_later);
  FreeRanges ranges;
  for (Block* const block : order) {
    for (; !used.empty() && used.top()->last < block->first; used.pop())
      ranges.give_back(used.top()->offset, used.top()->bytes);
    block->offset = ranges.take(block->bytes);
    if (ranges.arena_bytes() == std::numeric_limits<size_t>::max()) break;
    used.push(block);
  }
  return ranges.arena_bytes();
}

}  // namespace millrace::graph
