// mix_bits: the finaliser of splitmix64, a bijection in which each bit of the result depends on all
// bits of the argument. Random draws that must not depend on the order of threads are hashes of
// what they are drawn for.
#pragma once

#include <cstdint>

namespace millrace {

constexpr uint64_t mix_bits(uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Consecutive numbers are multiplied by this constant, 2^64 over the golden ratio, before they are
// mixed, as splitmix64 does.
inline constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;

}  // namespace millrace
