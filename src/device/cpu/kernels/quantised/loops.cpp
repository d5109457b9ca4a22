// Column sums of bytes, and binary operators on floating point elements, by vectors, then by single
// elements.
#include "device/cpu/kernels/quantised/loops.h"

#include <cmath>

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
void add_bytes(const Byte* x, size_t rows, size_t stride, size_t columns, int32_t* sums) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<Byte, decltype(d)> bytes;
  const size_t lanes = hn::Lanes(d);
  size_t column = 0;
  for (; column + lanes <= columns; column += lanes) {
    auto sum = hn::LoadU(d, sums + column);
    for (size_t row = 0; row < rows; ++row)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(bytes, x + row * stride + column)));
    hn::StoreU(sum, d, sums + column);
  }
  for (; column < columns; ++column)
    for (size_t row = 0; row < rows; ++row) sums[column] += x[row * stride + column];
}

void add_rows_of(const std::byte* x, size_t rows, size_t stride, size_t columns, bool is_signed,
                 int32_t* sums) {
  if (is_signed)
    add_bytes(reinterpret_cast<const int8_t*>(x), rows, stride, columns, sums);
  else
    add_bytes(reinterpret_cast<const uint8_t*>(x), rows, stride, columns, sums);
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
struct Prelu {
  template <class V>
  V operator()(V x, V slope) const {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(hn::DFromV<V>())), hn::Mul(x, slope), x);
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
    case BinaryKind::kPrelu:
      return combine_by(Prelu{}, a, b, count);
    case BinaryKind::kPow:
      for (size_t i = 0; i < count; ++i) a[i] = std::pow(a[i], b[i]);
      return;
  }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::quantised::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels::quantised {

HWY_EXPORT(add_rows_of);
HWY_EXPORT(combine_elements);

void add_rows(const std::byte* x, size_t rows, size_t stride, size_t columns, bool is_signed,
              int32_t* sums) noexcept {
  HWY_DYNAMIC_DISPATCH(add_rows_of)(x, rows, stride, columns, is_signed, sums);
}

void combine(graph::BinaryKind kind, float* a, const float* b, size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(combine_elements)(kind, a, b, count);
}

}  // namespace millrace::device::cpu::kernels::quantised
#endif  // HWY_ONCE
