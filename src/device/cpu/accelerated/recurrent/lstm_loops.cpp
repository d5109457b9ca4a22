#include "device/cpu/accelerated/recurrent/lstm_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/recurrent/lstm_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, kLstmBlock>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kParts = kLstmBlock / kLanes;  // vectors of a block
// An addition takes longer than the next one waits for: with few vectors there are several sums.
constexpr size_t kChains = kParts == 1 ? 2 : 1;

Vector sigmoid(Vector x) {
  const Floats d;
  const Vector one = hn::Set(d, 1.0F);
  // Beyond, the exponential is infinite; and it does not keep NaN.
  const Vector power = hn::Exp(d, hn::Min(hn::Neg(x), hn::Set(d, 88.0F)));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(one, hn::Add(one, power)));
}

// Highway's tanh does not keep NaN.
Vector tanh(Vector x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(Floats(), x));
}

// The sums of a block's gates.
struct Gates {
  Vector of[kLstmGates][kParts];
};

HWY_INLINE Gates add_recurrence(const LstmStep& step, size_t block) {
  const Floats d;
  constexpr size_t kRow = kLstmGates * kLstmBlock;
  Vector sums[kChains][kLstmGates * kParts];
  for (size_t i = 0; i < kLstmGates * kParts; ++i) {
    sums[0][i] = hn::LoadU(d, step.sums + block * kRow + i * kLanes);
    for (size_t chain = 1; chain < kChains; ++chain) sums[chain][i] = hn::Zero(d);
  }
  const float* row = step.recurrence + block * step.hidden * kRow;
  size_t k = 0;
  for (; k + kChains <= step.hidden; k += kChains)
    for (size_t chain = 0; chain < kChains; ++chain, row += kRow) {
      const Vector h = hn::Set(d, step.h[k + chain]);
      for (size_t i = 0; i < kLstmGates * kParts; ++i)
        sums[chain][i] = hn::MulAdd(h, hn::LoadU(d, row + i * kLanes), sums[chain][i]);
    }
  for (; k < step.hidden; ++k, row += kRow) {
    const Vector h = hn::Set(d, step.h[k]);
    for (size_t i = 0; i < kLstmGates * kParts; ++i)
      sums[0][i] = hn::MulAdd(h, hn::LoadU(d, row + i * kLanes), sums[0][i]);
  }
  Gates gates;
  for (size_t i = 0; i < kLstmGates * kParts; ++i) {
    for (size_t chain = 1; chain < kChains; ++chain)
      sums[0][i] = hn::Add(sums[0][i], sums[chain][i]);
    gates.of[i / kParts][i % kParts] = sums[0][i];
  }
  return gates;
}

void run_step(const LstmStep& step) {
  const Floats d;
  for (size_t block = 0; block < lstm_blocks(step.hidden); ++block) {
    const Gates gates = add_recurrence(step, block);
    for (size_t part = 0; part < kParts; ++part) {
      const size_t at = block * kLstmBlock + part * kLanes;
      const Vector kept = hn::Mul(sigmoid(gates.of[2][part]), hn::LoadU(d, step.c + at));
      const Vector c = hn::MulAdd(sigmoid(gates.of[0][part]), tanh(gates.of[3][part]), kept);
      hn::StoreU(c, d, step.c + at);
      hn::StoreU(hn::Mul(sigmoid(gates.of[1][part]), tanh(c)), d, step.next_h + at);
    }
  }
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated {

HWY_EXPORT(run_step);

void run_lstm_step(const LstmStep& step) noexcept {
  HWY_DYNAMIC_DISPATCH(run_step)(step);
}

}  // namespace millrace::device::cpu::accelerated
#endif  // HWY_ONCE
