// RunTimes: counts how often requests took how long, in classes that are a quarter of an octave
// wide, so that a percentile is known to a fifth of its value. One thread at a time adds; others
// may read meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace millrace::queue {

class RunTimes {
 public:
  static constexpr size_t kClasses = 128;
  using Counts = std::array<uint32_t, kClasses>;

  void add(int64_t ns) noexcept {
    std::atomic<uint32_t>& count = counts_[class_of(ns)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Counts counts() const noexcept {
    Counts copy{};
    for (size_t i = 0; i < kClasses; ++i) copy[i] = counts_[i].load(std::memory_order_relaxed);
    return copy;
  }

  // The first class is of all times below 80 ns, and the last one of those from 240 s on.
  static constexpr size_t class_of(int64_t ns) noexcept {
    if (ns < static_cast<int64_t>(kFirst)) return 0;
    const auto time = static_cast<uint64_t>(ns);
    const auto octave = static_cast<size_t>(std::bit_width(time) - std::bit_width(kFirst));
    const size_t quarter = (time >> (std::bit_width(time) - 3)) & 3;
    const size_t number = octave * 4 + quarter;
    return number < kClasses ? number : kClasses - 1;
  }
  // Returns the time at which a class ends, in nanoseconds.
  static constexpr int64_t end_of(size_t number) noexcept {
    const size_t next = number + 1;
    return static_cast<int64_t>((4 + next % 4) << (next / 4)) * (static_cast<int64_t>(kFirst) / 4);
  }

 private:
  static constexpr uint64_t kFirst = 64;  // a power of two

  std::array<std::atomic<uint32_t>, kClasses> counts_{};
};

}  // namespace millrace::queue
