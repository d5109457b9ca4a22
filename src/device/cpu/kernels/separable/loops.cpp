#include "device/cpu/kernels/separable/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/separable/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/registers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_in_register;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
// The blocks that such vectors fill.
constexpr size_t kBlock = kLanes == 16 ? 16 : 8;
// Sixteen registers do not hold what two rows of results are made of.
constexpr size_t kResultRows = HWY_TARGET <= HWY_AVX3 ? kRowsAtOnce : 1;
// Sums that fit into the registers beside what they are made of; of one vector of channels twice as
// many pixels, since an addition takes longer than the next one waits for.
constexpr size_t kVectors = 4, kPixels = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr size_t pixels_of(size_t vectors) {
  return vectors == 1 ? 2 * kPixels : kPixels;
}

// In this order no number stays no number.
HWY_INLINE Vector keep_between(const Layer& layer, Vector value) {
  const Floats f;
  return hn::Min(hn::Set(f, layer.most), hn::Max(hn::Set(f, layer.least), value));
}

// Where a channel lies in an image whose blocks are `apart`.
HWY_INLINE size_t place_of(size_t channel, size_t apart) {
  return channel / kBlock * apart + channel % kBlock;
}

// Some pixels of a row of the image between, and some of the channels of a panel.
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
    for (size_t i = 0; i < kCount; ++i)
      hn::StoreU(keep_between(layer, sums[i][j]), f, to + i * kBlock);
  }
}

// kCount pixels at most.
template <size_t kCount, size_t kCountVectors>
HWY_INLINE void multiply_some(const Geometry& g, const Layer& layer, const Pixels& pixels,
                              size_t count) {
  if constexpr (kCount > 1)
    if (count < kCount) return multiply_some<kCount - 1, kCountVectors>(g, layer, pixels, count);
  multiply<kCount, kCountVectors>(g, layer, pixels);
}

// kCountVectors vectors of channels at most.
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

// The blocks of channels that are made together, and where.
struct Panel {
  size_t first, blocks;
  float* rows;
  const float* zeros;

  // Of the image between, in the first block.
  float* row(const Geometry& g, size_t row) const {
    return rows + row % kRowsUnder * kPanelBlocks * g.row_floats();
  }
};

// A row of the image between.
void make_row(const Geometry& g, const Layer& layer, const Panel& panel, const float* image,
              size_t row) {
  const size_t first = panel.first * kBlock, width = panel.blocks * kBlock;
  float* const to = panel.row(g, row) + g.left * kBlock;
  const size_t count = std::min(g.width, g.columns() - g.left);
  for (size_t channel = 0; channel < width;) {
    const size_t vectors = std::min((width - channel) / kLanes, kVectors);
    const Pixels pixels{image + row * g.width * kBlock,
                        layer.filters + g.channels_in * first + channel,
                        layer.bias == nullptr ? nullptr : layer.bias + first + channel,
                        to,
                        channel,
                        width};
    multiply_row<kVectors>(g, layer, pixels, vectors, count);
    channel += vectors * kLanes;
  }
}

// Of one vector of channels: the filter, and the rows under some of the result.
struct Window {
  Vector taps[kTaps][kTaps];
  Vector bias, least, most;
  const float* rows[kRowsUnder];
  float* to[kRowsAtOnce];
};

// Some columns of kRows rows of the result.
template <size_t kRows, size_t kCount, size_t kStride>
HWY_INLINE void filter(const Window& window, size_t x) {
  const Floats f;
  Vector sums[kRows][kCount];
  for (auto& row : sums)
    for (Vector& sum : row) sum = window.bias;
  for (size_t under = 0; under < rows_under(kRows, kStride); ++under) {
    const float* const from = window.rows[under] + x * kStride * kBlock;
    constexpr size_t kColumns = (kCount - 1) * kStride + kTaps;
    Vector columns[kColumns];
    for (size_t i = 0; i < kColumns; ++i) {
      columns[i] = hn::LoadU(f, from + i * kBlock);
      keep_in_register(columns[i]);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const size_t tap_row = under - row * kStride;  // wraps around above the window
      if (tap_row >= kTaps) continue;
      for (size_t i = 0; i < kCount; ++i)
        for (size_t tap = 0; tap < kTaps; ++tap)
          sums[row][i] =
              hn::MulAdd(window.taps[tap_row][tap], columns[i * kStride + tap], sums[row][i]);
    }
  }
  for (size_t row = 0; row < kRows; ++row)
    for (size_t i = 0; i < kCount; ++i)
      hn::StoreU(hn::Min(window.most, hn::Max(window.least, sums[row][i])), f,
                 window.to[row] + (x + i) * kBlock);
}

template <size_t kRows, size_t kStride>
void filter_rows(const Geometry& g, const Window& window) {
  constexpr size_t kAtOnce = 4;
  size_t x = 0;
  for (; x + kAtOnce <= g.out_width; x += kAtOnce) filter<kRows, kAtOnce, kStride>(window, x);
  for (; x < g.out_width; ++x) filter<kRows, 1, kStride>(window, x);
}

// kRows rows of the result; the rows of the image between that they follow from are there.
template <size_t kRows, size_t kStride>
void finish_rows(const Geometry& g, const Layer& layer, const Panel& panel, size_t row,
                 float* result) {
  const Floats f;
  const size_t plane = g.out_height * g.out_width * kBlock;
  const float* under[kRowsUnder];
  for (size_t i = 0; i < rows_under(kRows, kStride); ++i) {
    const size_t at = row * kStride + i - g.above;  // wraps around above the image
    under[i] = at < g.height ? panel.row(g, at) : panel.zeros;
  }
  for (size_t c = 0; c < panel.blocks * kBlock; c += kLanes) {
    const size_t channel = panel.first * kBlock + c, at = place_of(c, g.row_floats());
    const float* const filters =
        layer.filters + channel / kBlock * kTaps * kTaps * kBlock + channel % kBlock;
    Window window;
    for (size_t i = 0; i < kTaps * kTaps; ++i)
      window.taps[i / kTaps][i % kTaps] = hn::LoadU(f, filters + i * kBlock);
    window.bias = layer.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, layer.bias + channel);
    window.least = hn::Set(f, layer.least);
    window.most = hn::Set(f, layer.most);
    for (size_t i = 0; i < rows_under(kRows, kStride); ++i) window.rows[i] = under[i] + at;
    for (size_t i = 0; i < kRows; ++i)
      window.to[i] = result + place_of(channel, plane) + (row + i) * g.out_width * kBlock;
    filter_rows<kRows, kStride>(g, window);
  }
}

template <size_t kStride>
void run_panel(const Geometry& g, const Layer& pointwise, const Layer& depthwise, const Work& work,
               const Panel& panel) {
  size_t made = 0;  // rows before this one are there, as far as they are needed
  const size_t last = work.first_row + work.rows;
  for (size_t row = work.first_row; row < last;) {
    const size_t rows = std::min(last - row, kResultRows);
    const size_t first = row * kStride;
    const size_t end = std::min(first + rows_under(rows, kStride), g.height + g.above);
    made = std::max(made, first < g.above ? 0 : first - g.above);
    for (; made + g.above < end; ++made) make_row(g, pointwise, panel, work.image, made);
    if (rows == kResultRows)
      finish_rows<kResultRows, kStride>(g, depthwise, panel, row, work.result);
    else
      finish_rows<1, kStride>(g, depthwise, panel, row, work.result);
    row += rows;
  }
}

void run_work(const Geometry& g, const Layer& pointwise, const Layer& depthwise, const Work& work) {
  std::fill_n(work.scratch, g.scratch_floats(), 0.0F);
  const float* const zeros = work.scratch + kRowsUnder * kPanelBlocks * g.row_floats();
  for (size_t i = 0; i < g.panels(); ++i) {
    const size_t first = g.first_block(i);
    const Panel panel{first, g.first_block(i + 1) - first, work.scratch, zeros};
    if (g.stride == 1)
      run_panel<1>(g, pointwise, depthwise, work, panel);
    else
      run_panel<2>(g, pointwise, depthwise, work, panel);
  }
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
