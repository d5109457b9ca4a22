// The general case of Binary: any broadcast and any function, on plain tensors.
#include <array>
#include <cmath>
#include <memory>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/elementwise/binary.h"
#include "device/cpu/kernels/movement/mapped_copy.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::BinaryKind;

struct Add {
  float operator()(float a, float b) const { return a + b; }
};
struct Sub {
  float operator()(float a, float b) const { return a - b; }
};
struct Mul {
  float operator()(float a, float b) const { return a * b; }
};
struct Div {
  float operator()(float a, float b) const { return a / b; }
};
struct Pow {
  float operator()(float a, float b) const { return std::pow(a, b); }
};
// The result is NaN where either operand is NaN.
struct Min {
  float operator()(float a, float b) const { return b < a || b != b ? b : a; }
};
struct Max {
  float operator()(float a, float b) const { return a < b || b != b ? b : a; }
};
struct Prelu {
  float operator()(float x, float slope) const { return x < 0 ? x * slope : x; }
};

// Returns the strides of an operand in elements, with 0 for dimensions that are broadcast.
Dims broadcast_strides(const Dims& dims, const Dims& result) {
  const Dims aligned = with_rank(dims, result.size());
  Dims strides = plain_strides(aligned);
  for (size_t i = 0; i < aligned.size(); ++i)
    if (aligned[i] == 1) strides[i] = 0;
  return strides;
}

template <class T, class F>
class BroadcastStep final : public Step {
 public:
  BroadcastStep(BufferId a, Dims a_strides, BufferId b, Dims b_strides, BufferId to, Dims dims)
      : a_(a),
        b_(b),
        to_(to),
        a_strides_(std::move(a_strides)),
        b_strides_(std::move(b_strides)),
        dims_(std::move(dims)) {}
  std::vector<BufferId> buffers() const override { return {a_, b_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const T* a = state.input<T>(a_);
    const T* b = state.input<T>(b_);
    T* to = state.output<T>(to_);
    std::array<int64_t, DNNL_MAX_NDIMS> index{};
    do {
      run_row(a, b, to);
      to += dims_.back();
    } while (advance(index, a, b));
    return {};
  }

 private:
  // The inner strides are 0 or 1. As constants they let the compiler use vectors.
  void run_row(const T* a, const T* b, T* to) const noexcept {
    if (a_strides_.back() == 0)
      b_strides_.back() == 0 ? row<0, 0>(a, b, to) : row<0, 1>(a, b, to);
    else
      b_strides_.back() == 0 ? row<1, 0>(a, b, to) : row<1, 1>(a, b, to);
  }

  template <int kA, int kB>
  void row(const T* a, const T* b, T* to) const noexcept {
    for (int64_t i = 0; i < dims_.back(); ++i)
      to[i] = from_float<T>(F{}(to_float(a[i * kA]), to_float(b[i * kB])));
  }

  bool advance(std::array<int64_t, DNNL_MAX_NDIMS>& index, const T*& a,
               const T*& b) const noexcept {
    for (size_t i = dims_.size() - 1; i-- > 0;) {
      a += a_strides_[i];
      b += b_strides_[i];
      if (++index[i] < dims_[i]) return true;
      a -= a_strides_[i] * dims_[i];
      b -= b_strides_[i] * dims_[i];
      index[i] = 0;
    }
    return false;
  }

  BufferId a_, b_, to_;
  Dims a_strides_, b_strides_, dims_;
};

template <class Body>
void with_function(BinaryKind kind, Body&& body) {
  switch (kind) {
    case BinaryKind::kAdd:
      return body(Add{});
    case BinaryKind::kSub:
      return body(Sub{});
    case BinaryKind::kMul:
      return body(Mul{});
    case BinaryKind::kDiv:
      return body(Div{});
    case BinaryKind::kPow:
      return body(Pow{});
    case BinaryKind::kMin:
      return body(Min{});
    case BinaryKind::kMax:
      return body(Max{});
    case BinaryKind::kPrelu:
      return body(Prelu{});
  }
}

}  // namespace

Status add_plain_binary(Builder& builder, BinaryKind kind, const Operand& a, const Dims& a_dims,
                        const Operand& b, const Dims& b_dims, const Operand& to, const Dims& dims) {
  with_element(builder.type(), [&](auto element) {
    with_function(kind, [&](auto function) {
      using Step = BroadcastStep<decltype(element), decltype(function)>;
      builder.add("Binary", "millrace:broadcast",
                  std::make_unique<Step>(a.buffer, broadcast_strides(a_dims, dims), b.buffer,
                                         broadcast_strides(b_dims, dims), to.buffer, dims));
    });
  });
  return {};
}

}  // namespace millrace::device::cpu::kernels
