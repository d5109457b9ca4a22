// The statistic of RMSNormalization and SimplifiedLayerNormalization. Thread-safe.
#pragma once

#include <cmath>
#include <span>

namespace millrace::fallback {

// Returns 1 / sqrt(mean of the squares + epsilon). Requirement: there are elements.
template <class T>
double inverse_root_mean_square(std::span<const T> elements, double epsilon) {
  double squares = 0;
  for (const T element : elements) squares += static_cast<double>(element) * element;
  return 1 / std::sqrt(squares / static_cast<double>(elements.size()) + epsilon);
}

}  // namespace millrace::fallback
