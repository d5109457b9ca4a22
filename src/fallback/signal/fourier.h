// The discrete Fourier transform of any length.
#pragma once

#include <complex>
#include <vector>

namespace millrace::fallback {

// For one length and direction; may be used for any number of signals, by one thread at a time.
class FourierTransform {
 public:
  // Requirement: size >= 1. The inverse divides by the size.
  FourierTransform(size_t size, bool inverse);

  // In place. Requirement: signal.size() is the size.
  void run(std::vector<std::complex<double>>& signal);

 private:
  bool inverse_;
  // If the size is not a power of two, the transform is a convolution with a chirp (Bluestein's
  // algorithm), computed by transforms whose size is a power of two.
  std::vector<std::complex<double>> chirp_, filter_, work_;
};

}  // namespace millrace::fallback
