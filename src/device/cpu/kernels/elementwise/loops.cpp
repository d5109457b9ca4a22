// Each function is a loop over vectors, then over single elements as vectors of one lane, so that
// the last elements have the same bits as the others. BF16 elements are computed in FP32 and
// rounded to nearest even.
#include "device/cpu/kernels/elementwise/loops.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/elementwise/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "device/cpu/kernels/keep_between-inl.h"
#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

// Calls `apply(tag, index)` for whole vectors and then for single elements.
template <class Apply>
HWY_INLINE void for_each_vector(size_t count, Apply apply) {
  const Floats d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) apply(d, i);
  for (; i < count; ++i) apply(hn::CappedTag<float, 1>(), i);
}

template <class Number>
void keep_each_between(const Number* from, Number* to, size_t count, const Bounds& bounds) {
  const float least = bounds.least, most = bounds.most;
  for_each_vector(count, [=](auto d, size_t i) HWY_ATTR {
    const auto number = load_numbers(d, from + i);
    const auto kept = keep_between(hn::Set(d, least), hn::Set(d, most), number);
    store_numbers(d, kept, to + i);
  });
}

// Highway's function gives numbers for NaN and for infinity.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exponential(D d, V x) {
  const V largest = hn::Set(d, 88.75F);  // for a larger x the result is infinite
  const V infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  const V power = hn::Exp(d, hn::Min(x, largest));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Ge(x, largest), infinite, power));
}

template <class Number>
void exponential_of_each(const Number* from, Number* to, size_t count) {
  for_each_vector(count, [=](auto d, size_t i) HWY_ATTR {
    store_numbers(d, exponential(d, load_numbers(d, from + i)), to + i);
  });
}

// Computes max(x, 0) + log(1 + exp(-|x|)), which is as accurate for a negative x as for a positive
// one. Highway's functions give numbers for NaN.
template <class Number>
void softplus_of_each(const Number* from, Number* to, size_t count) {
  for_each_vector(count, [=](auto d, size_t i) HWY_ATTR {
    const auto x = load_numbers(d, from + i);
    const auto power = hn::Exp(d, hn::Neg(hn::Abs(x)));
    const auto sum = hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, power));
    store_numbers(d, hn::IfThenElse(hn::IsNaN(x), x, sum), to + i);
  });
}

struct Larger {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return at_least(a, b);
  }
};
struct Smaller {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return at_most(a, b);
  }
};

template <class Function, class Number>
void choose_each(const Number* a, const Number* b, Number* to, size_t count) {
  for_each_vector(count, [=](auto d, size_t i) HWY_ATTR {
    const auto x = load_numbers(d, a + i), y = load_numbers(d, b + i);
    // Function returns y where y is NaN, so only a NaN in x needs care.
    const auto chosen = hn::IfThenElse(hn::IsNaN(x), x, Function{}(x, y));
    store_numbers(d, chosen, to + i);
  });
}

void keep_floats(const float* from, float* to, size_t count, const Bounds& bounds) {
  keep_each_between(from, to, count, bounds);
}
void keep_bf16(const uint16_t* from, uint16_t* to, size_t count, const Bounds& bounds) {
  keep_each_between(from, to, count, bounds);
}
void exponentials_of_floats(const float* from, float* to, size_t count) {
  exponential_of_each(from, to, count);
}
void exponentials_of_bf16(const uint16_t* from, uint16_t* to, size_t count) {
  exponential_of_each(from, to, count);
}
void softplus_of_floats(const float* from, float* to, size_t count) {
  softplus_of_each(from, to, count);
}
void softplus_of_bf16(const uint16_t* from, uint16_t* to, size_t count) {
  softplus_of_each(from, to, count);
}
void larger_floats(const float* a, const float* b, float* to, size_t count) {
  choose_each<Larger>(a, b, to, count);
}
void larger_bf16(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) {
  choose_each<Larger>(a, b, to, count);
}
void smaller_floats(const float* a, const float* b, float* to, size_t count) {
  choose_each<Smaller>(a, b, to, count);
}
void smaller_bf16(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) {
  choose_each<Smaller>(a, b, to, count);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels {

HWY_EXPORT(keep_floats);
HWY_EXPORT(keep_bf16);
HWY_EXPORT(exponentials_of_floats);
HWY_EXPORT(exponentials_of_bf16);
HWY_EXPORT(softplus_of_floats);
HWY_EXPORT(softplus_of_bf16);
HWY_EXPORT(larger_floats);
HWY_EXPORT(larger_bf16);
HWY_EXPORT(smaller_floats);
HWY_EXPORT(smaller_bf16);

void keep_between(const float* from, float* to, size_t count, const Bounds& bounds) noexcept {
  HWY_DYNAMIC_DISPATCH(keep_floats)(from, to, count, bounds);
}
void keep_between(const uint16_t* from, uint16_t* to, size_t count, const Bounds& bounds) noexcept {
  HWY_DYNAMIC_DISPATCH(keep_bf16)(from, to, count, bounds);
}
void exponentials(const float* from, float* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(exponentials_of_floats)(from, to, count);
}
void exponentials(const uint16_t* from, uint16_t* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(exponentials_of_bf16)(from, to, count);
}
void softplus(const float* from, float* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(softplus_of_floats)(from, to, count);
}
void softplus(const uint16_t* from, uint16_t* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(softplus_of_bf16)(from, to, count);
}
void larger_of(const float* a, const float* b, float* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(larger_floats)(a, b, to, count);
}
void larger_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(larger_bf16)(a, b, to, count);
}
void smaller_of(const float* a, const float* b, float* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(smaller_floats)(a, b, to, count);
}
void smaller_of(const uint16_t* a, const uint16_t* b, uint16_t* to, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(smaller_bf16)(a, b, to, count);
}

}  // namespace millrace::device::cpu::kernels
#endif  // HWY_ONCE
