#include "device/cpu/kernels/one_channel/loops.h"

#include <algorithm>
#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/one_channel/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/keep_between-inl.h"
#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::one_channel::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_between;
using kernels::HWY_NAMESPACE::load_numbers;
using kernels::HWY_NAMESPACE::store_numbers;
using Floats = hn::CappedTag<float, Geometry::kMostLanes>;
using Vector = hn::Vec<Floats>;

// Returns the row of the scratch memory for row `row` of the image with zeros around it. It is used
// in turn by every taps_y-th row.
float* scratch_row(const Geometry& g, float* scratch, size_t row) {
  return scratch + row % g.taps_y * g.row_floats();
}

template <class Number>
void fill_row(const Geometry& g, const Work<Number>& work, size_t row) {
  float* const to = scratch_row(g, work.scratch, row);
  std::fill_n(to, g.row_floats(), 0.0F);
  if (row < g.above || row - g.above >= g.height) return;
  const Number* const from = work.image + (row - g.above) * g.width;
  const Floats f;
  size_t i = 0;
  for (; i + hn::Lanes(f) <= g.width; i += hn::Lanes(f))
    hn::StoreU(load_numbers(f, from + i), f, to + g.left + i);
  for (; i < g.width; ++i) {
    const hn::CappedTag<float, 1> one;
    hn::StoreU(load_numbers(one, from + i), one, to + g.left + i);
  }
}

// Computes a vector of results, from the column `first` on.
template <class Number>
HWY_INLINE Vector window(const Geometry& g, const Filter& filter, const Work<Number>& work,
                         size_t row, size_t first) {
  const Floats f;
  Vector sum = hn::Set(f, filter.bias);
  const float* tap = filter.taps.data();
  for (size_t y = 0; y < g.taps_y; ++y) {
    const float* const from = scratch_row(g, work.scratch, row + y) + first;
    for (size_t x = 0; x < g.taps_x; ++x, ++tap)
      sum = hn::MulAdd(hn::LoadU(f, from + x), hn::Set(f, *tap), sum);
  }
  return keep_between(hn::Set(f, filter.least), hn::Set(f, filter.most), sum);
}

template <class Number>
void run_row(const Geometry& g, const Filter& filter, const Work<Number>& work, size_t row) {
  const Floats f;
  Number* const to = work.result + row * g.out_width;
  size_t i = 0;
  for (; i + hn::Lanes(f) <= g.out_width; i += hn::Lanes(f))
    store_numbers(f, window(g, filter, work, row, i), to + i);
  if (i == g.out_width) return;
  std::array<Number, Geometry::kMostLanes> last;
  store_numbers(f, window(g, filter, work, row, i), last.data());
  std::copy_n(last.begin(), g.out_width - i, to + i);
}

template <class Number>
void run_rows(const Geometry& g, const Filter& filter, const Work<Number>& work) {
  for (size_t y = 0; y + 1 < g.taps_y; ++y) fill_row(g, work, work.first_row + y);
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row) {
    fill_row(g, work, row + g.taps_y - 1);
    run_row(g, filter, work, row);
  }
}

void run_fp32(const Geometry& g, const Filter& filter, const Work<float>& work) {
  run_rows(g, filter, work);
}
void run_bf16(const Geometry& g, const Filter& filter, const Work<uint16_t>& work) {
  run_rows(g, filter, work);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::one_channel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::one_channel {

HWY_EXPORT(run_fp32);
HWY_EXPORT(run_bf16);

void run(const Geometry& geometry, const Filter& filter, const Work<float>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_fp32)(geometry, filter, work);
}
void run(const Geometry& geometry, const Filter& filter, const Work<uint16_t>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(geometry, filter, work);
}

}  // namespace millrace::device::cpu::kernels::one_channel
#endif  // HWY_ONCE
