#include "device/cpu/kernels/softmax/rows.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/softmax/rows.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/exponential-inl.h"
#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Loads the end of a row, which fills no vector. The other lanes have -inf, whose exponential is 0.
template <class Number>
Vector load_end(const Number* from, size_t count) {
  const hn::CappedTag<float, 1> one;
  alignas(64) float numbers[kLanes];
  std::fill_n(numbers, kLanes, -kInfinity);
  for (size_t i = 0; i < count; ++i) numbers[i] = hn::GetLane(load_numbers(one, from + i));
  return hn::Load(Floats(), numbers);
}

template <class Number>
void store_end(Vector vector, Number* to, size_t count) {
  const hn::CappedTag<float, 1> one;
  alignas(64) float numbers[kLanes];
  hn::Store(vector, Floats(), numbers);
  for (size_t i = 0; i < count; ++i) store_numbers(one, hn::Set(one, numbers[i]), to + i);
}

// The largest element. If one is NaN, it is NaN or any number.
template <class Number>
Vector largest_of(const Number* from, size_t length) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  Vector a = hn::Set(d, -kInfinity), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= length; i += 2 * lanes) {
    a = hn::Max(a, load_numbers(d, from + i));
    b = hn::Max(b, load_numbers(d, from + i + lanes));
  }
  if (i + lanes <= length) {
    a = hn::Max(a, load_numbers(d, from + i));
    i += lanes;
  }
  if (i < length) b = hn::Max(b, load_end(from + i, length - i));
  return hn::MaxOfLanes(d, hn::Max(a, b));
}

HWY_INLINE Vector power_of(Vector x, Vector largest) {
  return exponential_of_negative(Floats(), hn::Sub(x, largest));
}

// The exponentials of an FP32 row are kept in the result until their sum is known. BF16 would round
// them, so those of a BF16 row are computed twice.
template <class Number>
void run_row(const Number* from, Number* to, size_t length) {
  constexpr bool kKeeps = std::is_same_v<Number, float>;
  const Floats d;
  const size_t lanes = hn::Lanes(d), whole = length / lanes * lanes;
  const Vector largest = largest_of(from, length);
  Vector sum = hn::Zero(d), end = sum;
  for (size_t i = 0; i < whole; i += lanes) {
    const Vector power = power_of(load_numbers(d, from + i), largest);
    sum = hn::Add(sum, power);
    if constexpr (kKeeps) hn::StoreU(power, d, to + i);
  }
  if (whole < length) {
    end = power_of(load_end(from + whole, length - whole), largest);
    sum = hn::Add(sum, end);
  }
  const Vector inverse = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sum));
  for (size_t i = 0; i < whole; i += lanes) {
    const Vector power =
        kKeeps ? load_numbers(d, to + i) : power_of(load_numbers(d, from + i), largest);
    store_numbers(d, hn::Mul(power, inverse), to + i);
  }
  if (whole < length) store_end(hn::Mul(end, inverse), to + whole, length - whole);
}

void run_floats(const float* from, float* to, size_t rows, size_t length) {
  for (size_t i = 0; i < rows * length; i += length) run_row(from + i, to + i, length);
}

void run_bf16(const uint16_t* from, uint16_t* to, size_t rows, size_t length) {
  for (size_t i = 0; i < rows * length; i += length) run_row(from + i, to + i, length);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels {

HWY_EXPORT(run_floats);
HWY_EXPORT(run_bf16);

void softmax_of_rows(const float* from, float* to, size_t rows, size_t length) noexcept {
  HWY_DYNAMIC_DISPATCH(run_floats)(from, to, rows, length);
}

void softmax_of_rows(const uint16_t* from, uint16_t* to, size_t rows, size_t length) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(from, to, rows, length);
}

}  // namespace millrace::device::cpu::kernels
#endif  // HWY_ONCE
