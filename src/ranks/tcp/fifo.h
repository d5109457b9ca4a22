// Fifo: a queue in a ring buffer that grows and keeps its memory, so that in steady state nothing
// is allocated. Not thread-safe.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace millrace::ranks {

template <class T>
class Fifo {
 public:
  bool empty() const noexcept { return count_ == 0; }
  size_t size() const noexcept { return count_; }
  T& front() noexcept { return at(0); }
  // May throw std::bad_alloc; then nothing has changed.
  void push_back(const T& value) {
    if (count_ == cells_.size()) grow();
    at(count_++) = value;
  }
  void pop_front() noexcept {
    first_ = (first_ + 1) % cells_.size();
    --count_;
  }
  void pop_back() noexcept { --count_; }
  void clear() noexcept { count_ = 0; }

  // Visits all elements, oldest first.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (size_t i = 0; i < count_; ++i) visit(at(i));
  }
  template <class Predicate>
  void erase_if(Predicate&& goes) noexcept {
    size_t kept = 0;
    for (size_t i = 0; i < count_; ++i)
      if (!goes(at(i))) at(kept++) = at(i);
    count_ = kept;
  }

 private:
  T& at(size_t index) noexcept { return cells_[(first_ + index) % cells_.size()]; }
  void grow() {
    std::vector<T> larger(cells_.empty() ? 8 : 2 * cells_.size());
    for (size_t i = 0; i < count_; ++i) larger[i] = at(i);
    cells_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> cells_;
  size_t first_ = 0, count_ = 0;
};

}  // namespace millrace::ranks
