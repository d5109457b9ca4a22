#include "fallback/signal/fourier.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numbers>

namespace millrace::fallback {
namespace {

using Complex = std::complex<double>;

// Returns exp(i * pi * numerator / denominator).
Complex unit(double numerator, double denominator) {
  return std::polar(1.0, std::numbers::pi * numerator / denominator);
}

void reverse_bits(std::vector<Complex>& signal) {
  for (size_t i = 1, j = 0; i < signal.size(); ++i) {
    size_t bit = signal.size() >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(signal[i], signal[j]);
  }
}

// Iterative radix-2 FFT, in place and without division by the size. Requirement: the size is a
// power of two.
void transform(std::vector<Complex>& signal, bool inverse) {
  reverse_bits(signal);
  for (size_t half = 1; half < signal.size(); half *= 2) {
    std::vector<Complex> twiddles(half);
    for (size_t k = 0; k < half; ++k)
      twiddles[k] = unit(inverse ? static_cast<double>(k) : -static_cast<double>(k),
                         static_cast<double>(half));
    for (size_t begin = 0; begin < signal.size(); begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        Complex &low = signal[begin + k], &high = signal[begin + half + k];
        const Complex turned = high * twiddles[k];
        high = low - turned;
        low += turned;
      }
    }
  }
}

}  // namespace

FourierTransform::FourierTransform(size_t size, bool inverse) : inverse_(inverse) {
  if (std::has_single_bit(size)) return;
  chirp_.resize(size);
  filter_.resize(std::bit_ceil(2 * size));
  for (size_t k = 0; k < size; ++k) {
    // Reducing the square modulo the period of the exponential keeps the angle small, and therefore
    // accurate.
    const auto square = static_cast<double>(k * k % (2 * size));
    chirp_[k] = unit(inverse ? square : -square, static_cast<double>(size));
    filter_[k] = std::conj(chirp_[k]);
    if (k > 0) filter_[filter_.size() - k] = filter_[k];
  }
  transform(filter_, false);
}

void FourierTransform::run(std::vector<Complex>& signal) {
  if (chirp_.empty()) {
    transform(signal, inverse_);
  } else {
    work_.assign(filter_.size(), Complex{});
    std::ranges::transform(signal, chirp_, work_.begin(), std::multiplies<>{});
    transform(work_, false);
    std::ranges::transform(work_, filter_, work_.begin(), std::multiplies<>{});
    transform(work_, true);
    const auto size = static_cast<double>(work_.size());
    for (size_t k = 0; k < signal.size(); ++k) signal[k] = work_[k] * chirp_[k] / size;
  }
  if (!inverse_) return;
  for (Complex& element : signal) element /= static_cast<double>(signal.size());
}

}  // namespace millrace::fallback
