// How one axis of a picture is resampled: which source samples make up each output sample.
// Immutable once made, so several threads may read it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vision {

//   kBilinear  interpolates between two neighbours; half-pixel centres; the edge goes on outwards
//   kArea      averages what an output sample covers, as image libraries do against aliasing; an
//              axis that does not shrink is interpolated
//   kAuto      kArea for an axis that shrinks by more than kAutoAreaFactor, since bilinear
//              interpolation would leave out source samples there; otherwise kBilinear
enum class Filter : uint8_t { kAuto, kBilinear, kArea };

inline constexpr uint32_t kAutoAreaFactor = 2;

// The output samples [first, first + count) of `all`.
struct OutputWindow {
  uint32_t all = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

class Axis {
 public:
  // Maps `size` source samples, the first of which has the index `offset`, to `outputs.all`
  // samples, of which only those in the window are kept. None of these is 0.
  Axis(Filter filter, uint32_t offset, uint32_t size, const OutputWindow& outputs);

  uint32_t outputs() const { return static_cast<uint32_t>(taps_.size()); }
  // Whether each output has at most two source samples.
  bool interpolates() const { return interpolates_; }

  // Outputs count from the beginning of the window.
  //
  // The first and the last source sample of an output, and the weights of all from the one to the
  // other. The weights add up to 1.
  uint32_t first(uint32_t output) const { return taps_[output].first; }
  uint32_t last(uint32_t output) const { return taps_[output].first + taps_[output].count - 1; }
  std::span<const float> weights(uint32_t output) const {
    return {weights_.data() + taps_[output].weights, taps_[output].count};
  }
  // Requirement: interpolates(). The weight of the second of two samples; 0 where there is one.
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
