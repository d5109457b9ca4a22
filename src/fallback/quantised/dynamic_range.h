// The dynamic quantisation of DynamicQuantizeLinear: scale and zero point of UINT8 follow from the
// range of the values, extended to include 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tensor/element.h"

namespace millrace::fallback {

// The range of FLOAT32 values, and the scale and zero point that map it to 0 to 255.
class DynamicRange {
 public:
  void include(std::span<const float> numbers) noexcept {
    for (const float number : numbers) {
      low_ = std::min(low_, number);
      high_ = std::max(high_, number);
    }
  }

  float scale() const noexcept { return high_ == low_ ? 1 : (high_ - low_) / 255; }
  uint8_t zero_point() const noexcept {
    return tensor::quantise<uint8_t>(-low_, tensor::ElementRule{scale(), 0, false});
  }
  tensor::ElementRule rule() const noexcept { return {scale(), zero_point(), false}; }

 private:
  float low_ = 0, high_ = 0;
};

}  // namespace millrace::fallback
