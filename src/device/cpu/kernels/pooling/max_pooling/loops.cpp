#include "device/cpu/kernels/pooling/max_pooling/loops.h"

#include <limits>

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

// The maximum of vectors of BF16 elements, as integers of the same order.
class LargestBf16 {
 public:
  using Element = int16_t;

  template <class D>
  struct Of {
    using V = hn::Vec<D>;
    explicit HWY_INLINE Of(D d) : largest(hn::Set(d, kNegativeInfinity)) {}
    HWY_INLINE void add(D d, V bits) {
      largest = hn::Max(largest, hn::Sub(in_order(d, bits), hn::Set(d, kNegativeNaNs)));
    }
    HWY_INLINE V result(D d) const {
      return in_order(d, hn::Add(largest, hn::Set(d, kNegativeNaNs)));
    }

    V largest;
  };

 private:
  // The bits of NaNs with a positive sign lie above infinity. Those with a negative sign lie below
  // -infinity, and wrap around to the high end when their count is subtracted from all.
  static constexpr int16_t kNegativeNaNs = 0x7f;
  static constexpr int16_t kNegativeInfinity = std::numeric_limits<int16_t>::min();

  // Converts between the bits of BF16 numbers and integers of the same order, in either direction.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V in_order(D d, V bits) {
    const V of_negative = hn::And(hn::ShiftRight<15>(bits), hn::Set(d, int16_t{0x7fff}));
    return hn::Xor(bits, of_negative);
  }
};

// The maximum of vectors of FP32 elements. The maximum of x86 returns its second operand where one
// is NaN, so NaNs are recorded separately.
struct LargestFloat {
  using Element = float;

  template <class D>
  struct Of {
    using V = hn::Vec<D>;
    explicit HWY_INLINE Of(D d)
        : largest(hn::Set(d, -std::numeric_limits<float>::infinity())), nans(hn::FirstN(d, 0)) {}
    HWY_INLINE void add(D, V x) {
      largest = hn::Max(largest, x);
      nans = hn::Or(nans, hn::IsNaN(x));
    }
    HWY_INLINE V result(D d) const {
      return hn::IfThenElse(nans, hn::Set(d, std::numeric_limits<float>::quiet_NaN()), largest);
    }

    V largest;
    hn::Mask<D> nans;
  };
};

// The position of a window, one entry for each dimension.
struct Place {
  const Taps &z, &y, &x;
};

// Computes the channels from `first` on, as many as a vector of D holds.
template <class Largest, class D, class Number>
HWY_INLINE void pool(D d, const Work<Number>& work, const Place& place, size_t first, Number* to) {
  using Element = typename Largest::Element;
  const auto& [depth, height, width] = *work.plan;
  const auto* const image = reinterpret_cast<const Element*>(work.image) + first;
  typename Largest::template Of<D> largest(d);
  for (int64_t k = 0; k < place.z.count; ++k)
    for (int64_t j = 0; j < place.y.count; ++j) {
      const int64_t plane = (place.z.first + k * depth.step) * height.size;
      const int64_t row = (plane + place.y.first + j * height.step) * width.size + place.x.first;
      for (int64_t i = 0; i < place.x.count; ++i) {
        const auto pixel = static_cast<size_t>(row + i * width.step);
        largest.add(d, hn::LoadU(d, image + pixel * work.channels));
      }
    }
  hn::StoreU(largest.result(d), d, reinterpret_cast<Element*>(to) + first);
}

// The last vector ends with the last channel.
template <class Largest, class D, class Number>
void run_rows(D d, const Work<Number>& work) {
  const auto& [depth, height, width] = *work.plan;
  const size_t lanes = hn::Lanes(d), height_out = height.positions.size();
  Number* to = work.result + work.first_row * width.positions.size() * work.channels;
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row)
    for (const Taps& x : width.positions) {
      const Place place{depth.positions[row / height_out], height.positions[row % height_out], x};
      size_t first = 0;
      for (; first + lanes <= work.channels; first += lanes)
        pool<Largest>(d, work, place, first, to);
      if (first < work.channels) pool<Largest>(d, work, place, work.channels - lanes, to);
      to += work.channels;
    }
}

template <class Largest, class Number>
void run_work(const Work<Number>& work) {
  using Element = typename Largest::Element;
  const hn::CappedTag<Element, kLeastChannels> few;
  const hn::CappedTag<Element, 2 * kLeastChannels> some;
  const hn::CappedTag<Element, 4 * kLeastChannels> many;
  if (work.channels % hn::Lanes(many) == 0)
    run_rows<Largest>(many, work);
  else if (work.channels >= hn::Lanes(some))
    run_rows<Largest>(some, work);
  else
    run_rows<Largest>(few, work);
}

void run_floats(const Work<float>& work) {
  run_work<LargestFloat>(work);
}
void run_bf16(const Work<uint16_t>& work) {
  run_work<LargestBf16>(work);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::max_pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::max_pooling {

HWY_EXPORT(run_floats);
HWY_EXPORT(run_bf16);

void run(const Work<float>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_floats)(work);
}
void run(const Work<uint16_t>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(work);
}

}  // namespace millrace::device::cpu::kernels::max_pooling
#endif  // HWY_ONCE
