#include "quantise/measure/difference.h"

#include <cmath>
#include <cstddef>
#include <limits>

namespace millrace::quantise {

void Difference::add(std::span<const float> exact, std::span<const float> approximate) {
  for (size_t i = 0; i < exact.size(); ++i) {
    const double a = exact[i], b = approximate[i];
    exact_ += a * a;
    approximate_ += b * b;
    product_ += a * b;
    error_ += (a - b) * (a - b);
  }
}

double Difference::snr_db() const noexcept {
  if (error_ == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(exact_ / error_);
}

double Difference::cosine() const noexcept {
  if (exact_ == 0 && approximate_ == 0) return 1;
  const double lengths = std::sqrt(exact_) * std::sqrt(approximate_);
  return lengths == 0 ? 0 : product_ / lengths;
}

}  // namespace millrace::quantise
