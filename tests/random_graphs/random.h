// Makes random choices from a seed, the same with every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>

namespace millrace::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Returns a number from `low` to `high`, both included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(std::size(list))];
  }
  template <class List>
  void shuffle(List& list) {
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace millrace::test
