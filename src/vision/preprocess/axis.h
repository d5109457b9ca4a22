// Axis: the resampling of a picture along one axis. Each output sample is a weighted sum of
// consecutive source samples (taps). Resampling is separable: a picture has one Axis for columns
// and one for rows. Immutable and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vision {

// The resampling filter of an axis.
//   kBilinear  linear interpolation between two samples, with half-pixel centres; samples beyond
//              the edge equal the one at the edge
//   kArea      the average of the area that an output sample covers, against aliasing; an axis that
//              is not reduced is interpolated
//   kAuto      kArea for an axis that is reduced by more than kAutoAreaFactor, where bilinear
//              interpolation would skip source samples; otherwise kBilinear
enum class Filter : uint8_t { kAuto, kBilinear, kArea };

// The reduction above which kAuto averages.
inline constexpr uint32_t kAutoAreaFactor = 2;

// The output samples [first, first + count) of `all`.
struct OutputWindow {
  uint32_t all = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

class Axis {
 public:
  // Resamples `size` source samples, the first of which has the index `offset`, to `outputs.all`
  // samples, of which only those in the window are computed. Requirement: `size`, `outputs.all` and
  // `outputs.count` are not 0.
  Axis(Filter filter, uint32_t offset, uint32_t size, const OutputWindow& outputs);

  uint32_t outputs() const { return static_cast<uint32_t>(taps_.size()); }
  // True if each output sample has at most two taps.
  bool interpolates() const { return interpolates_; }

  // These return the first and the last source sample of an output sample, and the weights of the
  // samples between them, inclusive. The weights add up to 1. Output samples are counted from the
  // beginning of the window.
  uint32_t first(uint32_t output) const { return taps_[output].first; }
  uint32_t last(uint32_t output) const { return taps_[output].first + taps_[output].count - 1; }
  std::span<const float> weights(uint32_t output) const {
    return {weights_.data() + taps_[output].weights, taps_[output].count};
  }
  // Returns the weight of the second of two taps; 0 if there is only one. Requirement:
  // interpolates().
  float fraction(uint32_t output) const;

 private:
  struct Taps {
    uint32_t first;
    uint32_t count;
    uint32_t weights;
  };

  void interpolate(uint32_t offset, uint32_t size, const OutputWindow& outputs);
  void average(uint32_t offset, uint32_t size, const OutputWindow& outputs);

  bool interpolates_;
  std::vector<Taps> taps_;
  std::vector<float> weights_;
};

}  // namespace millrace::vision
