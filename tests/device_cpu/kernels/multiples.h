// Numbers whose products and sums are exact in FP32, for tests of loops on BF16.
#pragma once

#include <cstddef>
#include <vector>

namespace millrace::device::cpu::kernels {

// Multiples of `unit` between -`most` and `most` of them, which repeat after a prime number only.
inline std::vector<float> multiples(size_t count, int most, float unit) {
  std::vector<float> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back(static_cast<float>(static_cast<int>(i * 7919 % 65537) % (2 * most + 1) - most) *
                  unit);
  return all;
}

}  // namespace millrace::device::cpu::kernels
