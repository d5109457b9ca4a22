// The maximum over a window, for a vector of channels at a time: the loops go through the elements
// of the window and keep the largest in a register. They also keep what is needed to find NaNs.
// Windows are cut off at the image's border beforehand (window_plan.h), so no element is tested.
#include "device/cpu/kernels/pooling/max_pooling/loops.h"

#include <algorithm>
#include <limits>

#include "device/cpu/dnnl/invalid_flag.h"

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

// The maximum of vectors of BF16 elements. As signed integers, positive numbers are in order and
// above negative ones, which are in the opposite order. NaNs are beyond the infinities.
struct LargestBf16 {
  using Element = int16_t;

  template <class D>
  struct Of {
    using V = hn::Vec<D>;
    using Unsigned = hn::RebindToUnsigned<D>;
    explicit HWY_INLINE Of(D d)
        : largest(hn::Set(d, std::numeric_limits<int16_t>::min())),
          smallest(hn::Set(d, std::numeric_limits<int16_t>::max())),
          largest_unsigned(hn::Zero(Unsigned())) {}
    HWY_INLINE void add(D, V bits) {
      largest = hn::Max(largest, bits);
      smallest = hn::Min(smallest, bits);
      largest_unsigned = hn::Max(largest_unsigned, hn::BitCast(Unsigned(), bits));
    }
    HWY_INLINE V result(D d) const {
      const V number = hn::IfThenElse(hn::Lt(largest, hn::Zero(d)), smallest, largest);
      const auto is_nan = hn::Gt(largest_unsigned, hn::Set(Unsigned(), kNegativeInfinity));
      return hn::IfThenElse(hn::RebindMask(d, is_nan), hn::BitCast(d, largest_unsigned), number);
    }

    V largest, smallest;
    hn::Vec<Unsigned> largest_unsigned;
  };

 private:
  static constexpr uint16_t kNegativeInfinity = 0xff80;
};

// The maximum of vectors of FP32 elements without NaN. The maximum of x86 raises the flag of
// invalid operations where an operand is NaN.
struct LargestNumber {
  using Element = float;

  template <class D>
  struct Of {
    using V = hn::Vec<D>;
    explicit HWY_INLINE Of(D d) : largest(hn::Set(d, -std::numeric_limits<float>::infinity())) {}
    HWY_INLINE void add(D, V x) { largest = hn::Max(largest, x); }
    HWY_INLINE V result(D) const { return largest; }

    V largest;
  };
};

// The maximum of vectors of FP32 elements. A processor's maximum may be the number where one
// operand is NaN, so NaNs are recorded separately.
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

// The distances between neighbouring elements of a window, in elements of the memory.
struct Steps {
  size_t depth, height, width;
};

// Adds the elements of one row of a window. Most windows are three elements wide.
template <class Largest, class D, class Element>
HWY_INLINE void add_row(D d, Largest& largest, const Element* element, size_t step, int64_t count) {
  if (count == 3) {
    largest.add(d, hn::LoadU(d, element));
    largest.add(d, hn::LoadU(d, element + step));
    largest.add(d, hn::LoadU(d, element + 2 * step));
    return;
  }
  for (int64_t i = 0; i < count; ++i, element += step) largest.add(d, hn::LoadU(d, element));
}

// Computes as many channels as a vector of D holds. `corner` is the first element of the window.
template <class Largest, class D, class Element>
HWY_INLINE void pool(D d, const Place& place, const Steps& steps, const Element* corner,
                     Element* to) {
  typename Largest::template Of<D> largest(d);
  for (int64_t k = 0; k < place.z.count; ++k, corner += steps.depth) {
    const Element* row = corner;
    for (int64_t j = 0; j < place.y.count; ++j, row += steps.height)
      add_row(d, largest, row, steps.width, place.x.count);
  }
  hn::StoreU(largest.result(d), d, to);
}

// The last vector ends with the last channel.
template <class Largest, class D, class Number>
HWY_NOINLINE void run_rows(D d, const Work<Number>& work) {
  using Element = typename Largest::Element;
  const auto& [depth, height, width] = *work.plan;
  const size_t channels = work.channels, lanes = hn::Lanes(d);
  const size_t row_size = static_cast<size_t>(width.size) * channels;
  const size_t plane_size = static_cast<size_t>(height.size) * row_size;
  const Steps steps{static_cast<size_t>(depth.step) * plane_size,
                    static_cast<size_t>(height.step) * row_size,
                    static_cast<size_t>(width.step) * channels};
  const size_t height_out = height.positions.size();
  auto* to =
      reinterpret_cast<Element*>(work.result) + work.first_row * width.positions.size() * channels;
  for (size_t row = work.first_row; row < work.first_row + work.rows; ++row) {
    const Taps &z = depth.positions[row / height_out], &y = height.positions[row % height_out];
    const auto* const from = reinterpret_cast<const Element*>(work.image) +
                             static_cast<size_t>(z.first) * plane_size +
                             static_cast<size_t>(y.first) * row_size;
    for (const Taps& x : width.positions) {
      const Place place{z, y, x};
      const Element* const corner = from + static_cast<size_t>(x.first) * channels;
      for (size_t first = 0; first < channels; first += lanes) {
        const size_t begin = std::min(first, channels - lanes);
        pool<Largest>(d, place, steps, corner + begin, to + begin);
      }
      to += channels;
    }
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
  if constexpr (kFlagShowsNan) {
    clear_invalid_flag();
    run_work<LargestNumber>(work);
    if (!invalid_flag()) [[likely]]
      return;
  }
  run_work<LargestFloat>(work);
}
void run_bf16(const Work<uint16_t>& work) {
  run_work<LargestBf16>(work);
}

// Calls has(d, x) with vectors of all elements until one is found; the last vectors may overlap.
template <class Element, class Has>
HWY_INLINE bool any_of(const Element* elements, size_t count, const Has& has) {
  const hn::ScalableTag<Element> vectors;
  const hn::CappedTag<Element, 1> one;
  const size_t lanes = hn::Lanes(vectors);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    if (has(vectors, hn::LoadU(vectors, elements + i))) return true;
  for (; i < count; ++i)
    if (has(one, hn::LoadU(one, elements + i))) return true;
  return false;
}

bool floats_have_lowest(const float* elements, size_t count) {
  return any_of(elements, count, [](auto d, auto x) HWY_ATTR {
    return !hn::AllFalse(d, hn::Eq(x, hn::Set(d, std::numeric_limits<float>::lowest())));
  });
}

constexpr uint16_t kLowestBf16 = 0xff7f, kNegativeInfinityBf16 = 0xff80;

bool bf16_has_lowest(const uint16_t* elements, size_t count) {
  return any_of(elements, count, [](auto d, auto x) HWY_ATTR {
    return !hn::AllFalse(d, hn::Or(hn::Eq(x, hn::Set(d, kLowestBf16)),
                                   hn::Eq(x, hn::Set(d, kNegativeInfinityBf16))));
  });
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::max_pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::max_pooling {

HWY_EXPORT(run_floats);
HWY_EXPORT(run_bf16);
HWY_EXPORT(floats_have_lowest);
HWY_EXPORT(bf16_has_lowest);

void run(const Work<float>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_floats)(work);
}
void run(const Work<uint16_t>& work) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(work);
}

bool has_lowest(const float* elements, size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(floats_have_lowest)(elements, count);
}
bool has_lowest(const uint16_t* elements, size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(bf16_has_lowest)(elements, count);
}

}  // namespace millrace::device::cpu::kernels::max_pooling
#endif  // HWY_ONCE
