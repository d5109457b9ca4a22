// Relaxed: a value that one thread writes while others may look at it without owning it, and that
// moves with the object it is part of. What a look without ownership gives may be out of date.
#pragma once

#include <atomic>

namespace millrace::queue {

template <class T>
class Relaxed {
 public:
  Relaxed() noexcept = default;
  Relaxed(const Relaxed& other) noexcept : value_(other.get()) {}
  Relaxed& operator=(const Relaxed& other) noexcept {
    set(other.get());
    return *this;
  }

  T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

}  // namespace millrace::queue
