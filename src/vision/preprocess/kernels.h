// Vector kernels of preprocessing, over rows. The instruction set is chosen once per process; all
// give the same bits. Thread-safe.
//
// A pixel of an intermediate row has four lanes: three channels and one without a meaning, which is
// finite. Rows of lanes are RowBuffers, which may be read and written a little beyond their end, so
// that kernels work in whole vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vision {

inline constexpr size_t kLanes = 4;

// Elements of a row, with room for the rest of a vector behind them; zero at first.
template <class T>
class RowBuffer {
 public:
  RowBuffer() = default;
  explicit RowBuffer(size_t count) : elements_(count + kMargin) {}
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }

 private:
  // The widest vectors have 64 elements; a kernel that writes three at once goes furthest.
  static constexpr size_t kMargin = 256;
  std::vector<T> elements_;
};

// Eight bytes for each output pixel: a source pixel, and behind its bytes the neighbour at its
// right.
inline constexpr size_t kPairBytes = 8;

struct PairRow {
  const uint8_t* pairs;
  size_t pixel_bytes;  // 1, 3 or 4: where the neighbour begins
};

// Interpolation across has weights in units of 2^-14, so that products with bytes are exact. Each
// pixel has kPairWeights: those of the pixel and of its neighbour, lane by lane; they add up to
// kWeightOne.
inline constexpr int16_t kWeightOne = 1 << 14;
inline constexpr size_t kPairWeights = 2 * kLanes;

// Output channel k is source lane `source[k]`: y = (x - mean[k]) * scale[k] * factor[k].
struct LaneRule {
  std::array<uint8_t, kLanes> source{0, 1, 2, 3};
  std::array<float, kLanes> mean{0, 0, 0, 0};
  std::array<float, kLanes> scale{1, 1, 1, 1};
  std::array<float, kLanes> factor{1, 1, 1, 1};
};

// Range to which integers saturate: the limits of INT8 or UINT8.
struct ByteRange {
  int32_t lowest;
  int32_t highest;
};

struct Kernels {
  // Interpolates in both directions; `down` is the weight of the lower row.
  void (*interpolate)(const PairRow& upper, const PairRow& lower, const int16_t* weights,
                      float down, size_t pixels, float* to);
  // sums[i] = weight * bytes[i], or adds that; exactly `count` elements are read of `bytes`.
  void (*weigh)(const uint8_t* bytes, float weight, size_t count, float* sums);
  void (*add_weighed)(const uint8_t* bytes, float weight, size_t count, float* sums);
  // The weighted sum of weights.size() pixels, `stride` floats apart, into the four lanes at `to`.
  void (*sum_pixels)(const float* pixels, size_t stride, std::span<const float> weights, float* to);
  // BT.601 in limited range to R, G, B and a fourth byte, rounded to nearest.
  void (*yuv_to_rgb)(const uint8_t* y, const uint8_t* u, const uint8_t* v, size_t pixels,
                     uint8_t* to);
  // The rule, pixel by pixel; `from` may be `to`.
  void (*apply)(const LaneRule& rule, const float* from, size_t pixels, float* to);
  // The rule, rounded to the nearest integer, ties to even, that lies in the range; NaN is 0.
  // Writes exactly a byte per lane.
  void (*apply_to_bytes)(const LaneRule& rule, const ByteRange& range, const float* from,
                         size_t pixels, uint8_t* to);
  // Drops the fourth lanes.
  void (*pack)(const float* from, size_t pixels, float* to);
  // The first three lanes to a row each.
  void (*split)(const float* from, size_t pixels, const std::array<float*, 3>& to);
  // The sum of the first three lanes.
  void (*sum_lanes)(const float* from, size_t pixels, float* to);
};

const Kernels& kernels();
// The kernels that do not use vector instructions.
const Kernels& portable_kernels();

// R, G and B of Y - 16 and of U and V (Cb, Cr) - 128, in the limited range of BT.601.
namespace bt601 {
inline constexpr float kLuma = 255.0f / 219.0f;
inline constexpr float kRedOfCr = 1.596027f;
inline constexpr float kGreenOfCb = 0.391762f;
inline constexpr float kGreenOfCr = 0.812968f;
inline constexpr float kBlueOfCb = 2.017232f;
}  // namespace bt601

}  // namespace millrace::vision
