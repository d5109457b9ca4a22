// Rows of the intermediate image by VDPBF16PS, which adds products of pairs of channels: a part of
// the loops for BF16 images.
#if HWY_TARGET == HWY_AVX3 && !defined(MILLRACE_CPU_SEPARABLE_PAIR_ROWS_INL_H_)
#define MILLRACE_CPU_SEPARABLE_PAIR_ROWS_INL_H_

#include <cstring>

#include "device/cpu/kernels/separable/rounding-inl.h"

MILLRACE_BEFORE_SEPARABLE
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

// The register tile: the sums that fit into registers beside their operands. With one block it has
// twice as many pixels, so that additions do not wait for each other.
constexpr size_t kMostBlocks = 4, kFewPixels = 6;
constexpr size_t pixels_of(size_t blocks) {
  return blocks == 1 ? 2 * kFewPixels : kFewPixels;
}

// Broadcasts two channels of a pixel to all lanes.
HWY_INLINE __m512i pair_at(const uint16_t* from) {
  int32_t pair;
  std::memcpy(&pair, from, sizeof(pair));
  return _mm512_set1_epi32(pair);
}

// Some pixels of a row, and some blocks of a panel.
struct Pixels {
  const uint16_t* from;  // of the image, in its first block
  const uint16_t* filters;
  const float* bias;  // or null
  float* to;
};

template <size_t kCount, size_t kBlocks, bool kBounded>
HWY_INLINE void multiply(const Geometry& g, const Finish<kBounded>& finish, const Pixels& pixels) {
  const Floats f;
  Vector sums[kCount][kBlocks];
  for (auto& pixel : sums)
    for (Vector& sum : pixel) sum = hn::Zero(f);
  const size_t plane = g.height * g.width * kBlock, filter = kBlock * g.channels_in;
  const uint16_t* filters = pixels.filters;
  for (size_t k = 0; k < g.channels_in; k += 2, filters += 2 * kBlock) {
    const uint16_t* const from = pixels.from + k / kBlock * plane + k % kBlock;
    __m512i values[kBlocks];
    for (size_t j = 0; j < kBlocks; ++j) values[j] = _mm512_loadu_si512(filters + j * filter);
    for (size_t i = 0; i < kCount; ++i) {
      const __m512i pair = pair_at(from + i * kBlock);
      for (size_t j = 0; j < kBlocks; ++j)
        sums[i][j].raw = _mm512_dpbf16_ps(sums[i][j].raw, (__m512bh)pair, (__m512bh)values[j]);
    }
  }
  for (size_t j = 0; j < kBlocks; ++j) {
    const Vector bias =
        pixels.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, pixels.bias + j * kBlock);
    float* const to = pixels.to + j * g.row_floats();
    for (size_t i = 0; i < kCount; ++i)
      hn::StoreU(finish.finish(sums[i][j], bias), f, to + i * kBlock);
  }
}

// Multiplies at most kCount pixels.
template <size_t kCount, size_t kBlocks, bool kBounded>
HWY_INLINE void multiply_some(const Geometry& g, const Finish<kBounded>& finish,
                              const Pixels& pixels, size_t count) {
  if constexpr (kCount > 1)
    if (count < kCount)
      return multiply_some<kCount - 1, kBlocks, kBounded>(g, finish, pixels, count);
  multiply<kCount, kBlocks, kBounded>(g, finish, pixels);
}

// Multiplies at most kBlocks blocks.
template <size_t kBlocks, bool kBounded>
HWY_INLINE void multiply_row(const Geometry& g, const Finish<kBounded>& finish, Pixels pixels,
                             size_t blocks, size_t count) {
  if constexpr (kBlocks > 1)
    if (blocks < kBlocks)
      return multiply_row<kBlocks - 1, kBounded>(g, finish, pixels, blocks, count);
  constexpr size_t kMost = pixels_of(kBlocks);
  while (count > 0) {
    const size_t times = (count + kMost - 1) / kMost, now = (count + times - 1) / times;
    multiply_some<kMost, kBlocks, kBounded>(g, finish, pixels, now);
    count -= now;
    pixels.from += now * kBlock;
    pixels.to += now * kBlock;
  }
}

// Computes rows of the intermediate image. Requirement: a panel has at most kMostBlocks.
template <bool kBounded>
class PairRows {
 public:
  HWY_INLINE PairRows(const Geometry& g, const Bf16Layer& layer, const Strip& strip,
                      const uint16_t* image)
      : g_(g), layer_(layer), strip_(strip), image_(image), finish_(layer) {}

  void make(const Panel& panel, size_t first_row, size_t end_row) const {
    const size_t channel = panel.first * kBlock;
    Pixels pixels{nullptr, layer_.filters + channel * g_.channels_in,
                  layer_.bias == nullptr ? nullptr : layer_.bias + channel, nullptr};
    for (size_t row = first_row; row < end_row; ++row) {
      pixels.from = image_ + (row * g_.width + strip_.from) * kBlock;
      pixels.to = panel.row(g_, row) + strip_.at * kBlock;
      multiply_row<kMostBlocks, kBounded>(g_, finish_, pixels, panel.blocks, strip_.count);
    }
  }

 private:
  const Geometry& g_;
  const Bf16Layer& layer_;
  const Strip& strip_;
  const uint16_t* const image_;
  const Finish<kBounded> finish_;
};

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
MILLRACE_AFTER_SEPARABLE
#endif
