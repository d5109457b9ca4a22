// FP32 rows of the intermediate image. The 1x1 convolution of a row is a matrix product [pixels,
// channels] x [channels, channels of a panel], with register tiles of up to 6 pixels and 4 vectors
// of channels; rows-inl.h makes the depthwise convolution out of the rows.
#include "device/cpu/kernels/separable/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/separable/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/separable/rows-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

// The register tile: the sums that fit into registers beside their operands. With one vector of
// channels it has twice as many pixels, so that additions do not wait for each other.
constexpr size_t kVectors = 4, kPixels = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr size_t pixels_of(size_t vectors) {
  return vectors == 1 ? 2 * kPixels : kPixels;
}

HWY_INLINE Vector kept(const Layer& layer, Vector value) {
  const Floats f;
  return keep_between(hn::Set(f, layer.least), hn::Set(f, layer.most), value);
}

// Some pixels of a row of the intermediate image, and some of the channels of a panel.
struct Pixels {
  const float* from;     // of the image, in its first block
  const float* filters;  // `width` apart
  const float* bias;     // or null
  float* to;             // in the first block of the panel
  size_t channel, width;
};

template <size_t kCount, size_t kCountVectors>
HWY_INLINE void multiply(const Geometry& g, const Layer& layer, const Pixels& pixels) {
  const Floats f;
  Vector sums[kCount][kCountVectors];
  for (size_t j = 0; j < kCountVectors; ++j) {
    const Vector start =
        pixels.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, pixels.bias + j * kLanes);
    for (size_t i = 0; i < kCount; ++i) sums[i][j] = start;
  }
  const float* filters = pixels.filters;
  const size_t plane = g.height * g.width * kBlock;
  const float* from = pixels.from;
  for (size_t first = 0; first < g.channels_in; first += kBlock, from += plane) {
    const size_t channels = std::min(kBlock, g.channels_in - first);
    for (size_t k = 0; k < channels; ++k, filters += pixels.width) {
      Vector values[kCountVectors];
      for (size_t j = 0; j < kCountVectors; ++j) values[j] = hn::LoadU(f, filters + j * kLanes);
      for (size_t i = 0; i < kCount; ++i) {
        const Vector pixel = hn::Set(f, from[i * kBlock + k]);
        for (size_t j = 0; j < kCountVectors; ++j)
          sums[i][j] = hn::MulAdd(pixel, values[j], sums[i][j]);
      }
    }
  }
  for (size_t j = 0; j < kCountVectors; ++j) {
    float* const to = pixels.to + place_of(pixels.channel + j * kLanes, g.row_floats());
    for (size_t i = 0; i < kCount; ++i) hn::StoreU(kept(layer, sums[i][j]), f, to + i * kBlock);
  }
}

// Multiplies at most kCount pixels.
template <size_t kCount, size_t kCountVectors>
HWY_INLINE void multiply_some(const Geometry& g, const Layer& layer, const Pixels& pixels,
                              size_t count) {
  if constexpr (kCount > 1)
    if (count < kCount) return multiply_some<kCount - 1, kCountVectors>(g, layer, pixels, count);
  multiply<kCount, kCountVectors>(g, layer, pixels);
}

// Multiplies at most kCountVectors vectors of channels.
template <size_t kCountVectors>
HWY_INLINE void multiply_row(const Geometry& g, const Layer& layer, Pixels pixels, size_t vectors,
                             size_t count) {
  if constexpr (kCountVectors > 1)
    if (vectors < kCountVectors)
      return multiply_row<kCountVectors - 1>(g, layer, pixels, vectors, count);
  constexpr size_t kMost = pixels_of(kCountVectors);
  while (count > 0) {
    const size_t times = (count + kMost - 1) / kMost, now = (count + times - 1) / times;
    multiply_some<kMost, kCountVectors>(g, layer, pixels, now);
    count -= now;
    pixels.from += now * kBlock;
    pixels.to += now * kBlock;
  }
}

// Computes a row of the intermediate image.
void make_row(const Geometry& g, const Layer& layer, const Panel& panel, const Strip& strip,
              const float* image, size_t row) {
  const size_t first = panel.first * kBlock, width = panel.blocks * kBlock;
  float* const to = panel.row(g, row) + strip.at * kBlock;
  for (size_t channel = 0; channel < width;) {
    const size_t vectors = std::min((width - channel) / kLanes, kVectors);
    const Pixels pixels{image + (row * g.width + strip.from) * kBlock,
                        layer.filters + g.channels_in * first + channel,
                        layer.bias == nullptr ? nullptr : layer.bias + first + channel,
                        to,
                        channel,
                        width};
    multiply_row<kVectors>(g, layer, pixels, vectors, strip.count);
    channel += vectors * kLanes;
  }
}

struct Rows {
  void make(const Panel& panel, size_t first_row, size_t end_row) const {
    for (size_t row = first_row; row < end_row; ++row) make_row(g, layer, panel, strip, image, row);
  }

  const Geometry& g;
  const Layer& layer;
  const Strip& strip;
  const float* image;
};

// Results in blocks of channels.
struct Blocks {
  using Element = float;

  static HWY_INLINE void store(Vector vector, float* to) { hn::StoreU(vector, Floats(), to); }
  static constexpr size_t pixel() { return kBlock; }
  size_t block() const { return plane; }

  float* first;
  size_t first_row, rows;
  size_t plane;
};

void run_work(const Geometry& g, const Layer& pointwise, const Layer& depthwise, const Work& work) {
  const Blocks result{work.result, work.first_row, work.rows, g.out_height * g.out_width * kBlock};
  run_strips<Rows>(g, pointwise, depthwise, result, work);
}

size_t block() {
  return kBlock;
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::separable {

HWY_EXPORT(run_work);
HWY_EXPORT(block);

size_t vector_block() noexcept {
  return HWY_DYNAMIC_DISPATCH(block)();
}

void run(const Geometry& geometry, const Layer& pointwise, const Layer& depthwise,
         const Work& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_work)(geometry, pointwise, depthwise, work);
}

}  // namespace millrace::device::cpu::kernels::separable
#endif  // HWY_ONCE
