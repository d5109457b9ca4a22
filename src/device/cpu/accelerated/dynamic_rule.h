// How DynamicQuantizeLinear rounds elements, with their range found in vectors.
#pragma once

#include <array>
#include <span>

#include "device/cpu/accelerated/vector_loops.h"
#include "fallback/quantised/dynamic_range.h"

namespace millrace::device::cpu::accelerated {

inline tensor::ElementRule dynamic_rule(std::span<const float> elements) noexcept {
  const Range range = range_with_zero(elements);
  fallback::DynamicRange dynamic;
  dynamic.include(std::array{range.low, range.high});
  return dynamic.rule();
}

// to[i] = the number that the byte of elements[i] stands for.
inline void round_dynamically(std::span<const float> elements, float* to) noexcept {
  const tensor::ElementRule rule = dynamic_rule(elements);
  const auto zero = static_cast<float>(rule.zero_point);
  fake_quantise({.scale = rule.scale, .low = -zero, .high = 255 - zero, .for_nan = -zero}, elements,
                to);
}

}  // namespace millrace::device::cpu::accelerated
