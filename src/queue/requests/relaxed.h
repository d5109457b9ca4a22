// Relaxed: a copyable atomic with relaxed accesses, for members of objects that are moved. The
// thread that owns the object writes it; other threads may read it, and may get an outdated value.
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
