// The depthwise convolution that follows a 1x1 one. For each strip of columns, each panel of
// channels and each one or two rows of the result, it has the missing rows of the intermediate
// image made (by `Rows`, in a ring of kRowsUnder rows), and filters them. Included once per
// instruction set, by the loops of each type of images.
//
// A source whose loops need more than the instruction set has defines MILLRACE_BEFORE_SEPARABLE.
#if defined(MILLRACE_CPU_SEPARABLE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_CPU_SEPARABLE_ROWS_INL_H_
#undef MILLRACE_CPU_SEPARABLE_ROWS_INL_H_
#else
#define MILLRACE_CPU_SEPARABLE_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "device/cpu/kernels/keep_between-inl.h"
#include "device/cpu/kernels/registers-inl.h"
#include "device/cpu/kernels/separable/geometry.h"

#ifndef MILLRACE_BEFORE_SEPARABLE
#define MILLRACE_BEFORE_SEPARABLE HWY_BEFORE_NAMESPACE();
#define MILLRACE_AFTER_SEPARABLE HWY_AFTER_NAMESPACE();
#endif

MILLRACE_BEFORE_SEPARABLE
namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_between;
using kernels::HWY_NAMESPACE::keep_in_register;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
// The size of a block, which whole vectors fill.
constexpr size_t kBlock = kLanes == 16 ? 16 : 8;
// Sixteen registers do not hold the operands of two rows of results.
constexpr size_t kResultRows = HWY_TARGET <= HWY_AVX3 ? kRowsAtOnce : 1;

// Returns the offset of a channel in an image whose blocks are `apart` elements apart.
HWY_INLINE size_t place_of(size_t channel, size_t apart) {
  return channel / kBlock * apart + channel % kBlock;
}

// Some columns of the result, and the columns of the intermediate image under them.
struct Strip {
  Strip(const Geometry& g, size_t number)
      : first(g.first_column(number)), end(g.first_column(number + 1)) {
    const size_t begin = first * g.stride, last = (end - 1) * g.stride + kTaps;
    from = begin < g.left ? 0 : begin - g.left;
    at = from + g.left - begin;
    const size_t last_inside = std::min(g.width + g.left, last) - g.left;
    count = last_inside > from ? last_inside - from : 0;
  }

  size_t first, end;
  size_t from, count;  // without zeros
  size_t at;           // where those begin in a row
};

// The blocks of channels that are computed together, and their rows.
struct Panel {
  size_t first, blocks;
  float* rows;
  const float* zeros;

  // Returns a row of the intermediate image, in the first block.
  float* row(const Geometry& g, size_t row) const {
    return rows + row % kRowsUnder * g.panel_blocks * g.row_floats();
  }
};

// The operands for a vector of channels: its filter, and the rows under some rows of the result.
template <class Element>
struct Window {
  Vector taps[kTaps][kTaps];
  Vector bias, least, most;
  const float* rows[kRowsUnder];
  Element* to[kRowsAtOnce];
};

// Computes kCount columns of kRows rows of the result. `Result` stores elements, and has the
// distances between pixels and between blocks.
template <size_t kRows, size_t kCount, size_t kStride, class Result>
HWY_INLINE void filter(const Result& result, const Window<typename Result::Element>& window,
                       size_t x) {
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
      Result::store(keep_between(window.least, window.most, sums[row][i]),
                    window.to[row] + (x + i) * result.pixel());
}

template <size_t kRows, size_t kStride, class Result>
void filter_rows(const Result& result, const Window<typename Result::Element>& window,
                 size_t count) {
  constexpr size_t kAtOnce = 4;
  size_t x = 0;
  for (; x + kAtOnce <= count; x += kAtOnce) filter<kRows, kAtOnce, kStride>(result, window, x);
  for (; x < count; ++x) filter<kRows, 1, kStride>(result, window, x);
}

// Computes kRows rows of the result. Requirement: the rows of the intermediate image under them are
// there.
template <size_t kRows, size_t kStride, class Result>
void finish_rows(const Geometry& g, const Layer& layer, const Panel& panel, const Strip& strip,
                 const Result& result, size_t row) {
  const Floats f;
  const float* under[kRowsUnder];
  for (size_t i = 0; i < rows_under(kRows, kStride); ++i) {
    const size_t at = row * kStride + i - g.above;  // wraps around above the image
    under[i] = at < g.height ? panel.row(g, at) : panel.zeros;
  }
  for (size_t c = 0; c < panel.blocks * kBlock; c += kLanes) {
    const size_t channel = panel.first * kBlock + c, at = place_of(c, g.row_floats());
    const float* const filters =
        layer.filters + channel / kBlock * kTaps * kTaps * kBlock + channel % kBlock;
    Window<typename Result::Element> window;
    for (size_t i = 0; i < kTaps * kTaps; ++i)
      window.taps[i / kTaps][i % kTaps] = hn::LoadU(f, filters + i * kBlock);
    window.bias = layer.bias == nullptr ? hn::Zero(f) : hn::LoadU(f, layer.bias + channel);
    window.least = hn::Set(f, layer.least);
    window.most = hn::Set(f, layer.most);
    for (size_t i = 0; i < rows_under(kRows, kStride); ++i) window.rows[i] = under[i] + at;
    for (size_t i = 0; i < kRows; ++i)
      window.to[i] = result.first + place_of(channel, result.block()) +
                     ((row + i) * g.out_width + strip.first) * result.pixel();
    filter_rows<kRows, kStride>(result, window, strip.end - strip.first);
  }
}

// Computes a panel. `maker.make(panel, first, end)` computes rows of the intermediate image.
template <size_t kStride, class Result, class Rows>
void run_panel(const Geometry& g, const Layer& layer, const Panel& panel, const Strip& strip,
               const Result& result, const Rows& maker) {
  size_t made = 0;  // rows before this one have been made, if they are needed
  const size_t last = result.first_row + result.rows;
  for (size_t row = result.first_row; row < last;) {
    const size_t rows = std::min(last - row, kResultRows);
    const size_t first = row * kStride;
    const size_t last_under = std::min(first + rows_under(rows, kStride), g.height + g.above);
    const size_t end = std::max(last_under, g.above) - g.above;
    made = std::max(made, first < g.above ? 0 : first - g.above);
    if (made < end) maker.make(panel, made, end);
    made = std::max(made, end);
    if (rows == kResultRows)
      finish_rows<kResultRows, kStride>(g, layer, panel, strip, result, row);
    else
      finish_rows<1, kStride>(g, layer, panel, strip, result, row);
    row += rows;
  }
}

// Computes one strip after the other. `Rows` computes rows of the intermediate image.
template <class Rows, class Result, class Pointwise, class Work>
void run_strips(const Geometry& g, const Pointwise& pointwise, const Layer& depthwise,
                const Result& result, const Work& work) {
  const float* const zeros = work.scratch + kRowsUnder * g.panel_blocks * g.row_floats();
  const size_t end_panel = work.panels == 0 ? g.panels() : work.first_panel + work.panels;
  for (size_t number = 0; number < g.strips; ++number) {
    const Strip strip(g, number);
    std::fill_n(work.scratch, g.scratch_floats(), 0.0F);
    const Rows rows{g, pointwise, strip, work.image};
    for (size_t i = work.first_panel; i < end_panel; ++i) {
      const size_t first = g.first_block(i);
      const Panel panel{first, g.first_block(i + 1) - first, work.scratch, zeros};
      if (g.stride == 1)
        run_panel<1>(g, depthwise, panel, strip, result, rows);
      else
        run_panel<2>(g, depthwise, panel, strip, result, rows);
    }
  }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::separable::HWY_NAMESPACE
MILLRACE_AFTER_SEPARABLE
#endif
