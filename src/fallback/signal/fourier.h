// The discrete Fourier transform (DFT) of any length in O(n log n), in double: radix-2 FFT (Cooley
// and Tukey) for powers of two, Bluestein's algorithm for all other lengths.
#pragma once

#include <complex>
#include <vector>

namespace millrace::fallback {

// A transform of one length and direction, for any number of signals. For one thread at a time.
class FourierTransform {
 public:
  // Precomputes tables for the length. The inverse transform divides by the length. Requirement:
  // size >= 1.
  FourierTransform(size_t size, bool inverse);

  // Transforms a signal in place. Requirement: signal.size() is the length.
  void run(std::vector<std::complex<double>>& signal);

 private:
  bool inverse_;
  // If the length is not a power of two, the transform is a convolution with a chirp (Bluestein's
  // algorithm), computed by transforms whose length is a power of two.
  std::vector<std::complex<double>> chirp_, filter_, work_;
};

}  // namespace millrace::fallback
