#include "device/cpu/accelerated/vector_loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/vector_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

// Several sums at a time, since an addition takes longer than the next one waits for.
float sum_of_elements(const float* x, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  Vector a = hn::Zero(d), b = a, c = a, e = a;
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + lanes));
    c = hn::Add(c, hn::LoadU(d, x + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Add(a, hn::LoadU(d, x + i));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < count; ++i) sum += x[i];
  return sum;
}

// Adds up the distances from a number, and their squares.
void add_distances(float centre, const float* x, size_t count, double& total,
                   double& total_squares) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const Vector middle = hn::Set(d, centre);
  Vector sum = hn::Zero(d), more = sum, squares = sum, more_squares = sum;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const Vector a = hn::Sub(hn::LoadU(d, x + i), middle);
    const Vector b = hn::Sub(hn::LoadU(d, x + i + lanes), middle);
    sum = hn::Add(sum, a);
    more = hn::Add(more, b);
    squares = hn::MulAdd(a, a, squares);
    more_squares = hn::MulAdd(b, b, more_squares);
  }
  float rest = 0, rest_squares = 0;
  for (; i < count; ++i) {
    rest += x[i] - centre;
    rest_squares += (x[i] - centre) * (x[i] - centre);
  }
  total += rest + hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, more)));
  total_squares += rest_squares + hn::GetLane(hn::SumOfLanes(d, hn::Add(squares, more_squares)));
}

void apply_affine(const Affine& affine, const float* from, float* to, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const Vector centre = hn::Set(d, affine.centre), scale = hn::Set(d, affine.scale);
  const Vector shift = hn::Set(d, affine.shift);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, from + i), centre), scale, shift), d, to + i);
  for (; i < count; ++i) to[i] = (from[i] - affine.centre) * affine.scale + affine.shift;
}

// By comparisons, which are false for NaN.
Range find_range(const float* x, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  Vector low = hn::Zero(d), high = low;
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vector v = hn::LoadU(d, x + i);
    low = hn::IfThenElse(hn::Lt(v, low), v, low);
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  }
  Range range{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; i < count; ++i) {
    range.low = std::min(range.low, x[i]);
    range.high = std::max(range.high, x[i]);
  }
  return range;
}

// The first elements, as many as a vector of D has. Divides, as the standard says: a product with
// the inverse would be rounded twice.
template <class D>
void fake_quantise_vector(D d, const QuantisedRange& range, const float* from, float* to) {
  const auto x = hn::LoadU(d, from), scale = hn::Set(d, range.scale);
  const auto low = hn::Set(d, range.low), high = hn::Set(d, range.high);
  const auto whole = hn::Min(hn::Max(hn::Round(hn::Div(x, scale)), low), high);
  // An integer has no negative zero.
  const auto integer =
      hn::Add(hn::IfThenElse(hn::IsNaN(x), hn::Set(d, range.for_nan), whole), hn::Zero(d));
  hn::StoreU(hn::Mul(integer, scale), d, to);
}

void fake_quantise_all(const QuantisedRange& range, const float* from, float* to, size_t count) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) fake_quantise_vector(d, range, from + i, to + i);
  for (; i < count; ++i) fake_quantise_vector(hn::CappedTag<float, 1>(), range, from + i, to + i);
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated {

HWY_EXPORT(sum_of_elements);
HWY_EXPORT(add_distances);
HWY_EXPORT(apply_affine);
HWY_EXPORT(find_range);
HWY_EXPORT(fake_quantise_all);

namespace {

constexpr size_t kStretch = 4096;

// Calls visit(first element, count) for pieces that are short enough to be summed in FP32.
template <class Visit>
void in_stretches(std::span<const float> elements, Visit&& visit) {
  for (size_t at = 0; at < elements.size(); at += kStretch)
    visit(elements.data() + at, std::min(kStretch, elements.size() - at));
}

}  // namespace

// The first pass finds a number near the mean; distances from that lose no digits.
Moments moments_of(std::span<const float> elements) noexcept {
  const auto count = static_cast<double>(elements.size());
  double total = 0, distance = 0, squares = 0;
  in_stretches(elements, [&](const float* x, size_t size) {
    total += HWY_DYNAMIC_DISPATCH(sum_of_elements)(x, size);
  });
  const auto centre = static_cast<float>(total / count);
  in_stretches(elements, [&](const float* x, size_t size) {
    HWY_DYNAMIC_DISPATCH(add_distances)(centre, x, size, distance, squares);
  });
  distance /= count;
  return {centre + distance, std::max(0.0, squares / count - distance * distance)};
}

void apply(const Affine& affine, std::span<const float> from, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(apply_affine)(affine, from.data(), to, from.size());
}

Range range_with_zero(std::span<const float> elements) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_range)(elements.data(), elements.size());
}

void fake_quantise(const QuantisedRange& range, std::span<const float> from, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(fake_quantise_all)(range, from.data(), to, from.size());
}

}  // namespace millrace::device::cpu::accelerated
#endif  // HWY_ONCE
