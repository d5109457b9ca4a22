// Histogram of the elements of a value. It covers [-limit, limit) with bins of equal width, where
// the limit is a power of two. When an element exceeds the range, the limit doubles and each pair
// of neighbouring bins is merged into one, so that no earlier element is needed again.
//
// One thread at a time may add elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::quantise {

class Histogram {
 public:
  static constexpr size_t kBins = 4096;
  static constexpr size_t kZeroBin = kBins / 2;  // starts at zero: [0, bin_width())

  // Adds the elements. Requirement: `magnitude` is finite and no absolute value of an element is
  // greater.
  void add(std::span<const float> elements, float magnitude);

  // Zero as long as all elements are zero.
  double limit() const noexcept { return limit_; }
  std::span<const uint64_t> counts() const noexcept { return counts_; }
  uint64_t total() const noexcept { return total_; }
  double bin_width() const noexcept { return 2 * limit_ / kBins; }
  // The value in the middle of a bin.
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
