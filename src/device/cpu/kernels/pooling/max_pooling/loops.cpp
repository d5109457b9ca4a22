#include "device/cpu/kernels/pooling/max_pooling/loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/pooling/max_pooling/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::max_pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What NaNs with a positive sign lie above infinity is added to the order of BF16 numbers: then
// they wrap around to its low end. Those with a negative sign lie there already, below -infinity.
constexpr int16_t kPositiveNaNs = 0x7f;
constexpr int16_t kNegativeInfinity = -0x7f80 + kPositiveNaNs - 1;

// Between the bits of BF16 numbers and integers of the same order, in either direction.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V in_order(D d, V bits) {
  const V of_negative = hn::And(hn::ShiftRight<15>(bits), hn::Set(d, int16_t{0x7fff}));
  return hn::Xor(bits, of_negative);
}

// The channels from `first` on, as many as a vector of D holds.
template <class D>
HWY_INLINE void pool(D d, const Work& work, const Taps& y, const Taps& x, size_t first,
                     uint16_t* to) {
  const WindowAxis &height = (*work.plan)[1], &width = (*work.plan)[2];
  const auto* const image = reinterpret_cast<const int16_t*>(work.image) + first;
  const auto nans = hn::Set(d, kPositiveNaNs);
  const auto at = [&](int64_t row, int64_t column) {
    const int64_t pixel =
        (y.first + row * height.step) * width.size + x.first + column * width.step;
    const auto bits = hn::LoadU(d, image + static_cast<size_t>(pixel) * work.channels);
    return hn::Add(in_order(d, bits), nans);
  };
  auto largest = hn::Set(d, kNegativeInfinity);
  for (int64_t row = 0; row < y.count; ++row)
    for (int64_t column = 0; column < x.count; ++column)
      largest = hn::Max(largest, at(row, column));
  hn::StoreU(in_order(d, hn::Sub(largest, nans)), d, reinterpret_cast<int16_t*>(to + first));
}

// The last vector ends with the last channel.
template <class D>
void run_rows(D d, const Work& work) {
  const WindowAxis &height = (*work.plan)[1], &width = (*work.plan)[2];
  const size_t lanes = hn::Lanes(d);
  uint16_t* to = work.result + work.first_row * width.positions.size() * work.channels;
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row)
    for (const Taps& x : width.positions) {
      const Taps& y = height.positions[row];
      size_t first = 0;
      for (; first + lanes <= work.channels; first += lanes) pool(d, work, y, x, first, to);
      if (first < work.channels) pool(d, work, y, x, work.channels - lanes, to);
      to += work.channels;
    }
}

void run_work(const Work& work) {
  const hn::CappedTag<int16_t, kLeastChannels> few;
  const hn::CappedTag<int16_t, 2 * kLeastChannels> many;
  if (work.channels % hn::Lanes(many) == 0)
    run_rows(many, work);
  else
    run_rows(few, work);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::max_pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::max_pooling {

HWY_EXPORT(run_work);

void run(const Work& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_work)(work);
}

}  // namespace millrace::device::cpu::kernels::max_pooling
#endif  // HWY_ONCE
