#include "device/cpu/kernels/softmax/short_rows.h"

#include <algorithm>

#include "tensor/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/softmax/short_rows.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());

// Column i holds element i of kLanes rows.
struct Columns {
  alignas(64) float of[kLongestShortRow][kLanes];
};

void normalise(Columns& columns, size_t length) {
  const Floats d;
  Vector largest = hn::Load(d, columns.of[0]);
  for (size_t i = 1; i < length; ++i) largest = hn::Max(largest, hn::Load(d, columns.of[i]));
  Vector sum = hn::Zero(d);
  for (size_t i = 0; i < length; ++i) {
    const Vector x = hn::Load(d, columns.of[i]);
    const Vector distance = hn::Sub(x, largest);
    // The exponential does not keep NaN.
    const Vector power = hn::IfThenElse(hn::IsNaN(distance), distance, hn::Exp(d, distance));
    sum = hn::Add(sum, power);
    hn::Store(power, d, columns.of[i]);
  }
  for (size_t i = 0; i < length; ++i)
    hn::Store(hn::Div(hn::Load(d, columns.of[i]), sum), d, columns.of[i]);
}

float read(float number) {
  return number;
}
float read(uint16_t bits) {
  return tensor::bf16_to_float(bits);
}
void write(float number, float& to) {
  to = number;
}
void write(float number, uint16_t& to) {
  to = tensor::float_to_bf16(number);
}

// kLength is 0 if the length is known only at run time. Copies of a constant length are a few
// instructions.
template <size_t kLength, class T>
void run_rows(const T* from, T* to, size_t rows, size_t any_length) {
  const size_t length = kLength == 0 ? any_length : kLength;
  Columns columns = {};
  for (size_t row = 0; row < rows; row += kLanes) {
    const size_t count = std::min(kLanes, rows - row);
    for (size_t lane = 0; lane < count; ++lane)
      for (size_t i = 0; i < length; ++i)
        columns.of[i][lane] = read(from[(row + lane) * length + i]);
    normalise(columns, length);
    for (size_t lane = 0; lane < count; ++lane)
      for (size_t i = 0; i < length; ++i) write(columns.of[i][lane], to[(row + lane) * length + i]);
  }
}

template <class T>
void run_any(const T* from, T* to, size_t rows, size_t length) {
  if (length == 2) return run_rows<2>(from, to, rows, length);
  run_rows<0>(from, to, rows, length);
}

void run(const float* from, float* to, size_t rows, size_t length) {
  run_any(from, to, rows, length);
}

void run_bf16(const uint16_t* from, uint16_t* to, size_t rows, size_t length) {
  run_any(from, to, rows, length);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels {

HWY_EXPORT(run);
HWY_EXPORT(run_bf16);

void softmax_of_short_rows(const float* from, float* to, size_t rows, size_t length) noexcept {
  HWY_DYNAMIC_DISPATCH(run)(from, to, rows, length);
}

void softmax_of_short_rows(const uint16_t* from, uint16_t* to, size_t rows,
                           size_t length) noexcept {
  HWY_DYNAMIC_DISPATCH(run_bf16)(from, to, rows, length);
}

}  // namespace millrace::device::cpu::kernels
#endif  // HWY_ONCE
