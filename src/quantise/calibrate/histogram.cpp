#include "quantise/calibrate/histogram.h"

#include <algorithm>
#include <cmath>

namespace millrace::quantise {
namespace {

// The least limit other than zero. It bounds kZeroBin / limit, by which add() finds bins, to 2^111:
// a FLOAT32, which must be less than 2^128, even if all elements are denormal numbers.
constexpr double kLeastLimit = 0x1p-100;

}  // namespace

void Histogram::add(std::span<const float> elements, float magnitude) {
  cover(magnitude);
  total_ += elements.size();
  if (limit_ == 0) {
    counts_[kZeroBin] += elements.size();
    return;
  }
  const auto bins_per_unit = static_cast<float>(kZeroBin / limit_);
  constexpr auto kMiddle = static_cast<float>(kZeroBin);
  constexpr auto kLast = static_cast<float>(kBins - 1);
  for (const float element : elements) {
    // The product may round up to the limit, which is beyond the last bin.
    const float bin = std::clamp(std::floor(element * bins_per_unit) + kMiddle, 0.0F, kLast);
    ++counts_[static_cast<size_t>(bin)];
  }
}

void Histogram::cover(double magnitude) {
  if (magnitude == 0) return;
  if (limit_ == 0) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    limit_ = std::max(std::ldexp(1.0, exponent), kLeastLimit);
  }
  while (magnitude >= limit_) double_limit();
}

void Histogram::double_limit() {
  std::vector<uint64_t> merged(kBins);
  for (size_t bin = 0; bin < kBins; ++bin) merged[kBins / 4 + bin / 2] += counts_[bin];
  counts_ = std::move(merged);
  limit_ *= 2;
}

}  // namespace millrace::quantise
