// Vector kernels of preprocessing, which process one row at a time. They are written with Highway,
// which chooses the instruction set at run time; all instruction sets give the same bits.
// Thread-safe.
//
// A pixel of an intermediate row has four lanes: three channels, and a fourth lane with an
// arbitrary finite value. Rows are RowBuffers, whose margin allows kernels to read and write whole
// vectors beyond the end of a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vision {

inline constexpr size_t kLanes = 4;

// The elements of a row, followed by a margin for the rest of the last vector. Zero-initialised.
template <class T>
class RowBuffer {
 public:
  RowBuffer() = default;
  explicit RowBuffer(size_t count) : elements_(count + kMargin) {}
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }

 private:
  // Vectors have up to 64 elements, and a kernel writes up to four of them at once.
  static constexpr size_t kMargin = 256;
  std::vector<T> elements_;
};

// The bytes per output pixel in a PairRow: a source pixel, followed by its right neighbour and
// unused bytes.
inline constexpr size_t kPairBytes = 8;

struct PairRow {
  const uint8_t* pairs;
  size_t pixel_bytes;  // 1, 3 or 4: the offset of the neighbour
};

// Horizontal interpolation uses weights in 16-bit fixed point with 14 fractional bits, so that
// products with bytes, and sums of two, are exact. Each pixel has kPairWeights of them: for each
// lane the weight of the pixel and that of its neighbour, which add up to kWeightOne.
inline constexpr int16_t kWeightOne = 1 << 14;
inline constexpr size_t kPairWeights = 2 * kLanes;

// Normalisation, with a permutation of the lanes: lane k of the output is
// (x - mean[k]) * scale[k] * factor[k], where x is lane source[k] of the input.
struct LaneRule {
  std::array<uint8_t, kLanes> source{0, 1, 2, 3};
  std::array<float, kLanes> mean{0, 0, 0, 0};
  std::array<float, kLanes> scale{1, 1, 1, 1};
  std::array<float, kLanes> factor{1, 1, 1, 1};
};

// The range to which integers saturate: that of INT8 or UINT8.
struct ByteRange {
  int32_t lowest;
  int32_t highest;
};

struct Kernels {
  // Bilinear interpolation of a row from two source rows; `down` is the weight of the lower row.
  void (*interpolate)(const PairRow& upper, const PairRow& lower, const int16_t* weights,
                      float down, size_t pixels, float* to);
  // sums[i] = weight * bytes[i], and sums[i] += weight * bytes[i]. They read exactly `count` bytes.
  void (*weigh)(const uint8_t* bytes, float weight, size_t count, float* sums);
  void (*add_weighed)(const uint8_t* bytes, float weight, size_t count, float* sums);
  // Stores the weighted sum of weights.size() pixels, `stride` floats apart, in the four lanes at
  // `to`.
  void (*sum_pixels)(const float* pixels, size_t stride, std::span<const float> weights, float* to);
  // Converts YUV (BT.601, limited range) to R, G, B and a fourth byte, rounded to nearest.
  void (*yuv_to_rgb)(const uint8_t* y, const uint8_t* u, const uint8_t* v, size_t pixels,
                     uint8_t* to);
  // Applies a rule to each pixel; `from` and `to` may be equal.
  void (*apply)(const LaneRule& rule, const float* from, size_t pixels, float* to);
  // Applies a rule, rounds to the nearest integer, ties to even, and saturates to the range; NaN
  // gives 0. Writes exactly one byte per lane.
  void (*apply_to_bytes)(const LaneRule& rule, const ByteRange& range, const float* from,
                         size_t pixels, uint8_t* to);
  // Removes the fourth lane of each pixel.
  void (*pack)(const float* from, size_t pixels, float* to);
  // Separates the first three lanes into one row each.
  void (*split)(const float* from, size_t pixels, const std::array<float*, 3>& to);
  // Stores the sum of the first three lanes of each pixel.
  void (*sum_lanes)(const float* from, size_t pixels, float* to);
};

// Returns the kernels for the instruction set of this processor.
const Kernels& kernels();
// Returns the kernels that use no vector instructions.
const Kernels& portable_kernels();

// The coefficients of the conversion from YUV (BT.601, limited range) to RGB, to be applied to
// Y - 16, U - 128 (Cb) and V - 128 (Cr).
namespace bt601 {
inline constexpr float kLuma = 255.0f / 219.0f;
inline constexpr float kRedOfCr = 1.596027f;
inline constexpr float kGreenOfCb = 0.391762f;
inline constexpr float kGreenOfCr = 0.812968f;
inline constexpr float kBlueOfCb = 2.017232f;
}  // namespace bt601

}  // namespace millrace::vision
