#include "vision/preprocess/axis.h"

#include <algorithm>
#include <cmath>

namespace millrace::vision {
namespace {

bool averages(Filter filter, uint32_t size, uint32_t outputs) {
  if (filter == Filter::kArea) return size > outputs;
  return filter == Filter::kAuto && size > static_cast<uint64_t>(outputs) * kAutoAreaFactor;
}

}  // namespace

Axis::Axis(Filter filter, uint32_t offset, uint32_t size, const OutputWindow& outputs)
    : interpolates_(!averages(filter, size, outputs.all)) {
  taps_.reserve(outputs.count);
  if (interpolates_)
    interpolate(offset, size, outputs);
  else
    average(offset, size, outputs);
}

float Axis::fraction(uint32_t output) const {
  return taps_[output].count == 2 ? weights_[taps_[output].weights + 1] : 0.0f;
}

void Axis::interpolate(uint32_t offset, uint32_t size, const OutputWindow& outputs) {
  const double step = static_cast<double>(size) / outputs.all;
  for (uint32_t i = 0; i < outputs.count; ++i) {
    const double output = static_cast<double>(outputs.first) + i;
    const double centre = std::clamp((output + 0.5) * step - 0.5, 0.0, size - 1.0);
    const auto first = static_cast<uint32_t>(centre);
    const auto fraction = static_cast<float>(centre - first);
    const uint32_t count = fraction > 0 && first + 1 < size ? 2 : 1;
    taps_.push_back({offset + first, count, static_cast<uint32_t>(weights_.size())});
    weights_.push_back(count == 2 ? 1.0f - fraction : 1.0f);
    if (count == 2) weights_.push_back(fraction);
  }
}

// Computes the weights of area averaging exactly, in integers: in units of 1 / all of a source
// sample, output sample k covers the interval from k * size to (k + 1) * size.
void Axis::average(uint32_t offset, uint32_t size, const OutputWindow& outputs) {
  const uint64_t all = outputs.all;
  for (uint64_t i = 0; i < outputs.count; ++i) {
    const uint64_t begin = (outputs.first + i) * size, end = begin + size;
    const uint64_t first = begin / all, last = (end - 1) / all;
    taps_.push_back({offset + static_cast<uint32_t>(first), static_cast<uint32_t>(last - first + 1),
                     static_cast<uint32_t>(weights_.size())});
    for (uint64_t sample = first; sample <= last; ++sample) {
      const uint64_t covered = std::min(end, (sample + 1) * all) - std::max(begin, sample * all);
      weights_.push_back(static_cast<float>(static_cast<double>(covered) / size));
    }
  }
}

}  // namespace millrace::vision
