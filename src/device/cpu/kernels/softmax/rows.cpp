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

HWY_INLINE Vector power_of(Vector x, Vector largest) {
  return exponential_of_negative(Floats(), hn::Sub(x, largest));
}

// Finds the largest element of each row. If one is NaN, it is NaN or any number.
template <size_t kRows, class Number>
HWY_INLINE void find_largest(const Number* from, size_t length, Vector* largest) {
  const Floats d;
  const size_t lanes = hn::Lanes(d), whole = length / lanes * lanes;
  for (size_t r = 0; r < kRows; ++r) largest[r] = hn::Set(d, -kInfinity);
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t r = 0; r < kRows; ++r)
      largest[r] = hn::Max(largest[r], load_numbers(d, from + r * length + i));
  for (size_t r = 0; r < kRows; ++r) {
    if (whole < length)
      largest[r] = hn::Max(largest[r], load_end(from + r * length + whole, length - whole));
    largest[r] = hn::MaxOfLanes(d, largest[r]);
  }
}

// The rows take turns, so that none waits for a sum or maximum of its own. The exponentials of FP32
// rows are kept in the result until their sum is known. BF16 would round them, so those of BF16
// rows are computed twice.
template <size_t kRows, class Number>
void run_together(const Number* from, Number* to, size_t length) {
  constexpr bool kKeeps = std::is_same_v<Number, float>;
  const Floats d;
  const size_t lanes = hn::Lanes(d), whole = length / lanes * lanes;
  Vector largest[kRows], sums[kRows], ends[kRows];
  find_largest<kRows>(from, length, largest);
  for (size_t r = 0; r < kRows; ++r) {
    sums[r] = ends[r] = hn::Zero(d);
    for (size_t i = 0; i < whole; i += lanes) {
      const Vector power = power_of(load_numbers(d, from + r * length + i), largest[r]);
      sums[r] = hn::Add(sums[r], power);
      if constexpr (kKeeps) hn::StoreU(power, d, to + r * length + i);
    }
    if (whole < length) {
      ends[r] = power_of(load_end(from + r * length + whole, length - whole), largest[r]);
      sums[r] = hn::Add(sums[r], ends[r]);
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    sums[r] = hn::Div(hn::Set(d, 1.0f), hn::SumOfLanes(d, sums[r]));
  for (size_t r = 0; r < kRows; ++r) {
    Number* const row = to + r * length;
    for (size_t i = 0; i < whole; i += lanes) {
      const Vector power = kKeeps ? load_numbers(d, row + i)
                                  : power_of(load_numbers(d, from + r * length + i), largest[r]);
      store_numbers(d, hn::Mul(power, sums[r]), row + i);
    }
    if (whole < length) store_end(hn::Mul(ends[r], sums[r]), row + whole, length - whole);
  }
}

template <class Number>
void run_rows(const Number* from, Number* to, size_t rows, size_t length) {
  constexpr size_t kTogether = 4;
  size_t row = 0;
  for (; row + kTogether <= rows; row += kTogether)
    run_together<kTogether>(from + row * length, to + row * length, length);
  for (; row < rows; ++row) run_together<1>(from + row * length, to + row * length, length);
}

void run_floats(const float* from, float* to, size_t rows, size_t length) {
  run_rows(from, to, rows, length);
}

void run_bf16(const uint16_t* from, uint16_t* to, size_t rows, size_t length) {
  run_rows(from, to, rows, length);
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
