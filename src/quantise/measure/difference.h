// Difference accumulates, over any number of tensors, how well approximate elements agree with the
// exact ones: signal-to-noise ratio (SNR) and cosine similarity.
#pragma once

#include <span>

namespace millrace::quantise {

class Difference {
 public:
  // Requirement: both have the same number of elements.
  void add(std::span<const float> exact, std::span<const float> approximate);

  // The SNR in decibels, 10 * log10(sum(exact^2) / sum(error^2)); infinite if there is no error.
  double snr_db() const noexcept;
  // The cosine similarity: 1 if all elements of both are zero, 0 if those of only one are.
  double cosine() const noexcept;

 private:
  double exact_ = 0, approximate_ = 0, product_ = 0, error_ = 0;  // sums of squares and products
};

}  // namespace millrace::quantise
