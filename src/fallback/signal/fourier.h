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
  // Where the size is not a power of two, the transform is a convolution with a chirp
  // (Bluestein), which transforms of a power of two compute.
  std::vector<std::complex<double>> chirp_, filter_, work_;
};

}  // namespace millrace::fallback
