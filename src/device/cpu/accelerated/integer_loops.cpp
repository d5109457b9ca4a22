#include "device/cpu/accelerated/integer_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/integer_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Integers = hn::ScalableTag<int32_t>;
using Floats = hn::ScalableTag<float>;

int32_t complete(const IntegerRows& rows, const int32_t* row, size_t column) {
  auto sum = static_cast<uint32_t>(row[column]) + static_cast<uint32_t>(rows.offsets[column]);
  if (rows.totals_taken != nullptr)
    sum -=
        static_cast<uint32_t>(rows.totals_taken[column]) * static_cast<uint32_t>(row[rows.columns]);
  return static_cast<int32_t>(sum);
}

hn::Vec<Integers> complete_vector(const IntegerRows& rows, const int32_t* row, size_t column) {
  const Integers d;
  const auto sum = hn::Add(hn::LoadU(d, row + column), hn::LoadU(d, rows.offsets + column));
  if (rows.totals_taken == nullptr) return sum;
  const auto total = hn::Set(d, row[rows.columns]);
  return hn::Sub(sum, hn::Mul(hn::LoadU(d, rows.totals_taken + column), total));
}

void scale(const IntegerRows& rows, const float* scales, const float* biases, float* to) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows.rows; ++r, to += rows.columns) {
    const int32_t* const row = rows.sums + r * rows.stride;
    size_t i = 0;
    for (; i + lanes <= rows.columns; i += lanes) {
      const auto sum = hn::ConvertTo(d, complete_vector(rows, row, i));
      const auto scaled = hn::Mul(sum, hn::LoadU(d, scales + i));
      hn::StoreU(hn::Add(scaled, hn::LoadU(d, biases + i)), d, to + i);
    }
    for (; i < rows.columns; ++i)
      to[i] = static_cast<float>(complete(rows, row, i)) * scales[i] + biases[i];
  }
}

void complete_all(const IntegerRows& rows, int32_t* to) {
  const Integers d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows.rows; ++r, to += rows.columns) {
    const int32_t* const row = rows.sums + r * rows.stride;
    size_t i = 0;
    for (; i + lanes <= rows.columns; i += lanes)
      hn::StoreU(complete_vector(rows, row, i), d, to + i);
    for (; i < rows.columns; ++i) to[i] = complete(rows, row, i);
  }
}

// Row by row within a block of columns whose lines of `to` stay in the cache.
void transpose(const IntegerRows& rows, int32_t* to) {
  constexpr size_t kColumns = 16;
  for (size_t begin = 0; begin < rows.columns; begin += kColumns) {
    const size_t end = begin + kColumns < rows.columns ? begin + kColumns : rows.columns;
    for (size_t r = 0; r < rows.rows; ++r)
      for (size_t i = begin; i < end; ++i)
        to[i * rows.rows + r] = complete(rows, rows.sums + r * rows.stride, i);
  }
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated {

HWY_EXPORT(scale);
HWY_EXPORT(complete_all);
HWY_EXPORT(transpose);

void scale_rows(const IntegerRows& rows, const float* scales, const float* biases,
                float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(scale)(rows, scales, biases, to);
}

void complete_rows(const IntegerRows& rows, int32_t* to) noexcept {
  HWY_DYNAMIC_DISPATCH(complete_all)(rows, to);
}

void transpose_rows(const IntegerRows& rows, int32_t* to) noexcept {
  HWY_DYNAMIC_DISPATCH(transpose)(rows, to);
}

}  // namespace millrace::device::cpu::accelerated
#endif  // HWY_ONCE
