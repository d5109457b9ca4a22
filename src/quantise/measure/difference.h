// Difference: how far numbers lie from those that they stand for, summed up over samples.
#pragma once

#include <span>

namespace millrace::quantise {

class Difference {
 public:
  // Requirement: equally many on both sides.
  void add(std::span<const float> exact, std::span<const float> approximate);

  // The ratio of signal to noise in decibels; infinite where both are equal.
  double snr_db() const noexcept;
  // 1 where both are zero everywhere.
  double cosine() const noexcept;

 private:
  double exact_ = 0, approximate_ = 0, product_ = 0, error_ = 0;  // sums of squares and products
};

}  // namespace millrace::quantise
