// A product of one row reads each weight once, so the time is that of reading. One stream of
// addresses does not ask for enough cache lines at a time; so several panels are read side by side.
#include "device/cpu/kernels/row_product/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/row_product/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/numbers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
using Words = hn::RebindToUnsigned<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kVectors = kPanelColumns / kLanes;
// As many as leave registers for the operands.
constexpr size_t kPanelsAtOnce = kLanes >= 16 ? 4 : 1;

// The sums of the columns of some panels.
template <size_t kPanels>
using Sums = Vector[kPanels][kVectors];

template <size_t kPanels>
HWY_INLINE void add_products(const RowProduct<float>& product, const float* weights,
                             Sums<kPanels>& sums) {
  const Floats d;
  for (size_t k = 0; k < product.depth; ++k, weights += kPanelColumns) {
    const Vector x = hn::Set(d, product.row[k]);
    for (size_t p = 0; p < kPanels; ++p)
      for (size_t v = 0; v < kVectors; ++v)
        sums[p][v] =
            hn::MulAdd(x, hn::LoadU(d, weights + p * product.panel_size + v * kLanes), sums[p][v]);
  }
}

// A word has the weights of a column for two elements of the row, the first in its lower half.
template <size_t kPanels>
HWY_INLINE void add_products(const RowProduct<uint16_t>& product, const uint16_t* weights,
                             Sums<kPanels>& sums) {
  const Floats d;
  const Words words;
  const auto upper_half = hn::Set(words, 0xffff0000u);
  for (size_t k = 0; k < product.depth; k += 2, weights += 2 * kPanelColumns) {
    const Vector x = hn::Set(d, product.row[k]), next = hn::Set(d, product.row[k + 1]);
    for (size_t p = 0; p < kPanels; ++p)
      for (size_t v = 0; v < kVectors; ++v) {
        const uint16_t* const from = weights + p * product.panel_size + 2 * v * kLanes;
        const auto pairs = hn::LoadU(words, reinterpret_cast<const uint32_t*>(from));
        const Vector lower = hn::BitCast(d, hn::ShiftLeft<16>(pairs));
        const Vector upper = hn::BitCast(d, hn::And(pairs, upper_half));
        sums[p][v] = hn::MulAdd(next, upper, hn::MulAdd(x, lower, sums[p][v]));
      }
  }
}

// Writes columns of the result, from `first` on, from their sums.
template <class Result>
void write_columns(const float* sums, const float* bias, size_t first, size_t count, Result* to) {
  const auto write = [&](auto d, size_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, sums + i);
    if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias + first + i));
    store_numbers(d, sum, to + first + i);
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) write(Floats(), i);
  for (; i < count; ++i) write(hn::CappedTag<float, 1>(), i);
}

template <size_t kPanels, class Number, class Result>
void multiply_panels(const RowProduct<Number>& product, size_t first, Result* to) {
  const Floats d;
  Sums<kPanels> sums;
  for (auto& panel : sums)
    for (Vector& sum : panel) sum = hn::Zero(d);
  add_products<kPanels>(product, product.weights + first * product.panel_size, sums);
  for (size_t p = 0; p < kPanels; ++p) {
    alignas(64) float columns[kPanelColumns];
    for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[p][v], d, columns + v * kLanes);
    const size_t column = (first + p) * kPanelColumns;
    write_columns(columns, product.bias, column, std::min(kPanelColumns, product.columns - column),
                  to);
  }
}

template <class Number, class Result>
void multiply(const RowProduct<Number>& product, size_t first, size_t count, Result* to) {
  const size_t end = first + count;
  size_t panel = first;
  for (; panel + kPanelsAtOnce <= end; panel += kPanelsAtOnce)
    multiply_panels<kPanelsAtOnce>(product, panel, to);
  if constexpr (kPanelsAtOnce > 2)
    for (; panel + 2 <= end; panel += 2) multiply_panels<2>(product, panel, to);
  for (; panel < end; ++panel) multiply_panels<1>(product, panel, to);
}

void multiply_floats(const RowProduct<float>& product, size_t first, size_t count, float* to) {
  multiply(product, first, count, to);
}
void multiply_bf16_to_floats(const RowProduct<uint16_t>& product, size_t first, size_t count,
                             float* to) {
  multiply(product, first, count, to);
}
void multiply_bf16(const RowProduct<uint16_t>& product, size_t first, size_t count, uint16_t* to) {
  multiply(product, first, count, to);
}

void widen(const uint16_t* from, size_t depth, float* to) {
  const Floats d;
  size_t i = 0;
  for (; i + kLanes <= depth; i += kLanes) hn::StoreU(load_numbers(d, from + i), d, to + i);
  const hn::CappedTag<float, 1> one;
  for (; i < depth; ++i) hn::StoreU(load_numbers(one, from + i), one, to + i);
  if (depth % 2 != 0) to[depth] = 0;
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels {

HWY_EXPORT(multiply_floats);
HWY_EXPORT(multiply_bf16_to_floats);
HWY_EXPORT(multiply_bf16);
HWY_EXPORT(widen);

void multiply_row(const RowProduct<float>& product, size_t first, size_t count,
                  float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_floats)(product, first, count, to);
}

void multiply_row(const RowProduct<uint16_t>& product, size_t first, size_t count,
                  float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_bf16_to_floats)(product, first, count, to);
}

void multiply_row(const RowProduct<uint16_t>& product, size_t first, size_t count,
                  uint16_t* to) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_bf16)(product, first, count, to);
}

void widen_row(const uint16_t* from, size_t depth, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(widen)(from, depth, to);
}

}  // namespace millrace::device::cpu::kernels
#endif  // HWY_ONCE
