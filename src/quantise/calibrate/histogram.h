// Histogram: how often numbers of each size occur. Its range grows with what it is given: it covers
// [-limit, limit), where the limit is a power of two, and two bins become one when it doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::quantise {

class Histogram {
 public:
  static constexpr size_t kBins = 4096;
  static constexpr size_t kZeroBin = kBins / 2;  // of zero and the least positive numbers

  // Requirement: `magnitude` is finite, and no element's is greater.
  void add(std::span<const float> elements, float magnitude);

  // Zero until there is an element that is not zero.
  double limit() const noexcept { return limit_; }
  std::span<const uint64_t> counts() const noexcept { return counts_; }
  uint64_t total() const noexcept { return total_; }
  double bin_width() const noexcept { return 2 * limit_ / kBins; }
  // The middle of a bin.
  double centre(size_t bin) const noexcept {
    return (static_cast<double>(bin) - kZeroBin + 0.5) * bin_width();
  }

 private:
  void cover(double magnitude);
  void double_limit();

  double limit_ = 0;
  uint64_t total_ = 0;
  std::vector<uint64_t> counts_ = std::vector<uint64_t>(kBins);
};

}  // namespace millrace::quantise
