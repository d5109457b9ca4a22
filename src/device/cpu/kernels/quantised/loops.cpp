#include "device/cpu/kernels/quantised/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/quantised/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::quantised::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using graph::BinaryKind;

// The sums of a vector of columns stay in a register.
template <class Byte>
void sum_bytes(const Byte* x, size_t rows, size_t columns, int32_t* sums) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<Byte, decltype(d)> bytes;
  const size_t lanes = hn::Lanes(d);
  size_t column = 0;
  for (; column + lanes <= columns; column += lanes) {
    auto sum = hn::Zero(d);
    for (size_t row = 0; row < rows; ++row)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(bytes, x + row * columns + column)));
    hn::StoreU(sum, d, sums + column);
  }
  for (; column < columns; ++column) {
    sums[column] = 0;
    for (size_t row = 0; row < rows; ++row) sums[column] += x[row * columns + column];
  }
}

void sum_columns_of(const std::byte* x, size_t rows, size_t columns, bool is_signed,
                    int32_t* sums) {
  if (is_signed)
    sum_bytes(reinterpret_cast<const int8_t*>(x), rows, columns, sums);
  else
    sum_bytes(reinterpret_cast<const uint8_t*>(x), rows, columns, sums);
}

struct Add {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct Sub {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct Mul {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct Div {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Div(a, b);
  }
};
struct Min {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};
struct Max {
  template <class V>
  V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};

template <class F>
void combine_by(F function, float* a, const float* b, size_t count) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(function(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, a + i);
  for (; i < count; ++i)
    hn::StoreU(function(hn::LoadU(one, a + i), hn::LoadU(one, b + i)), one, a + i);
}

void combine_elements(BinaryKind kind, float* a, const float* b, size_t count) {
  switch (kind) {
    case BinaryKind::kAdd:
      return combine_by(Add{}, a, b, count);
    case BinaryKind::kSub:
      return combine_by(Sub{}, a, b, count);
    case BinaryKind::kMul:
      return combine_by(Mul{}, a, b, count);
    case BinaryKind::kDiv:
      return combine_by(Div{}, a, b, count);
    case BinaryKind::kMin:
      return combine_by(Min{}, a, b, count);
    case BinaryKind::kMax:
      return combine_by(Max{}, a, b, count);
    case BinaryKind::kPow:
    case BinaryKind::kPrelu:
      break;
  }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised {

HWY_EXPORT(sum_columns_of);
HWY_EXPORT(combine_elements);

void sum_columns(const std::byte* x, size_t rows, size_t columns, bool is_signed,
                 int32_t* sums) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_columns_of)(x, rows, columns, is_signed, sums);
}

bool can_combine(graph::BinaryKind kind) noexcept {
  return kind != graph::BinaryKind::kPow && kind != graph::BinaryKind::kPrelu;
}

void combine(graph::BinaryKind kind, float* a, const float* b, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(combine_elements)(kind, a, b, count);
}

}  // namespace millrace::device::cpu::kernels::quantised
#endif  // HWY_ONCE
