#include "device/cpu/accelerated/root_mean_square.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/root_mean_square.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::load_numbers;
using kernels::HWY_NAMESPACE::store_numbers;
using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;

template <class D, class Number>
HWY_INLINE hn::Vec<D> load_doubles(D d, const Number* from) {
  return hn::PromoteTo(d, load_numbers(hn::Rebind<float, D>(), from));
}

// Several sums at a time, since an addition takes longer than the next one waits for.
template <class Number>
double sum_of_squares(const Number* from, size_t count) {
  const Doubles d;
  constexpr size_t kSums = 4;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  const auto with_square = [&](auto sum, size_t i) HWY_ATTR {
    const auto x = load_doubles(d, from + i);
    return hn::MulAdd(x, x, sum);
  };
  size_t i = 0;
  for (; i + kSums * lanes <= count; i += kSums * lanes) {
    a = with_square(a, i);
    b = with_square(b, i + lanes);
    c = with_square(c, i + 2 * lanes);
    e = with_square(e, i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) a = with_square(a, i);
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < count; ++i) {
    const double x = hn::GetLane(load_doubles(hn::CappedTag<double, 1>(), from + i));
    sum += x * x;
  }
  return sum;
}

template <class D, class Number>
HWY_INLINE void scale_vector(D d, const Number* from, const float* scale, float inverse,
                             Number* to) {
  const auto x = hn::Mul(load_numbers(d, from), hn::Set(d, inverse));
  store_numbers(d, hn::Mul(x, hn::LoadU(d, scale)), to);
}

template <class Number>
float normalise(const Number* from, const float* scale, float epsilon, Number* to, size_t count) {
  const double mean = sum_of_squares(from, count) / static_cast<double>(count);
  const auto inverse = static_cast<float>(1 / std::sqrt(mean + static_cast<double>(epsilon)));
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) scale_vector(d, from + i, scale + i, inverse, to + i);
  for (; i < count; ++i)
    scale_vector(hn::CappedTag<float, 1>(), from + i, scale + i, inverse, to + i);
  return inverse;
}

float normalise_floats(const float* from, const float* scale, float epsilon, float* to,
                       size_t count) {
  return normalise(from, scale, epsilon, to, count);
}

float normalise_bf16(const uint16_t* from, const float* scale, float epsilon, uint16_t* to,
                     size_t count) {
  return normalise(from, scale, epsilon, to, count);
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated {

HWY_EXPORT(normalise_floats);
HWY_EXPORT(normalise_bf16);

float normalise_row(const float* from, const float* scale, float epsilon, float* to,
                    size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(normalise_floats)(from, scale, epsilon, to, count);
}

float normalise_row(const uint16_t* from, const float* scale, float epsilon, uint16_t* to,
                    size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(normalise_bf16)(from, scale, epsilon, to, count);
}

}  // namespace millrace::device::cpu::accelerated
#endif  // HWY_ONCE
