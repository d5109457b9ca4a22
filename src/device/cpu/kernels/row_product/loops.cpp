// A product of one row reads each weight once, so the time is that of reading. One stream of
// addresses does not ask for enough cache lines at a time; so several panels are read side by side.
#include "device/cpu/kernels/row_product/loops.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/kernels/row_product/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kVectors = kPanelColumns / kLanes;
// As many as leave registers for the operands.
constexpr size_t kPanelsAtOnce = kLanes >= 16 ? 4 : 1;

// The sums of the columns of some panels.
template <size_t kPanels>
using Sums = Vector[kPanels][kVectors];

template <size_t kPanels>
HWY_INLINE void add_products(const RowProduct& product, const float* weights, Sums<kPanels>& sums) {
  const Floats d;
  for (size_t k = 0; k < product.depth; ++k, weights += kPanelColumns) {
    const Vector x = hn::Set(d, product.row[k]);
    for (size_t p = 0; p < kPanels; ++p)
      for (size_t v = 0; v < kVectors; ++v)
        sums[p][v] =
            hn::MulAdd(x, hn::LoadU(d, weights + p * product.panel_size + v * kLanes), sums[p][v]);
  }
}

// Writes columns of the result, from `first` on, from their sums.
void write_columns(const float* sums, const float* bias, size_t first, size_t count, float* to) {
  const auto write = [&](auto d, size_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, sums + i);
    if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias + first + i));
    hn::StoreU(sum, d, to + first + i);
  };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) write(Floats(), i);
  for (; i < count; ++i) write(hn::CappedTag<float, 1>(), i);
}

template <size_t kPanels>
void multiply_panels(const RowProduct& product, size_t first, float* to) {
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

void multiply(const RowProduct& product, size_t first, size_t count, float* to) {
  const size_t end = first + count;
  size_t panel = first;
  for (; panel + kPanelsAtOnce <= end; panel += kPanelsAtOnce)
    multiply_panels<kPanelsAtOnce>(product, panel, to);
  if constexpr (kPanelsAtOnce > 2)
    for (; panel + 2 <= end; panel += 2) multiply_panels<2>(product, panel, to);
  for (; panel < end; ++panel) multiply_panels<1>(product, panel, to);
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::kernels {

HWY_EXPORT(multiply);

void multiply_row(const RowProduct& product, size_t first, size_t count, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply)(product, first, count, to);
}

}  // namespace millrace::device::cpu::kernels
#endif  // HWY_ONCE
