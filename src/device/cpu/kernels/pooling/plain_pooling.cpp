// Pool over plain memory: for integers, and for the windows that the library refuses.
#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/pooling/pooling.h"
#include "device/cpu/kernels/pooling/window_plan.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::PoolKind;
using tensor::DataType;

// Integers are compared as they are, floating point values as float.
template <class T>
auto load(T element) {
  if constexpr (std::is_integral_v<T>)
    return element;
  else
    return to_float(element);
}

// What becomes of the elements of one window.
template <class T>
class Largest {
 public:
  void add(T element) {
    const Number number = load(element);
    largest_ = none_ || largest_ < number ? number : largest_;
    none_ = false;
  }
  T result(int64_t) const {
    if constexpr (std::is_integral_v<T>)
      return largest_;
    else
      return from_float<T>(largest_);
  }

 private:
  using Number = decltype(load(T{}));
  Number largest_{};
  bool none_ = true;
};

template <class T>
class Mean {
 public:
  void add(T element) { sum_ += to_float(element); }
  T result(int64_t counted) const { return from_float<T>(sum_ / static_cast<float>(counted)); }

 private:
  float sum_ = 0;
};

template <class T, class Function>
class PlainPoolStep final : public Step {
 public:
  // `images` is the batch times the channels.
  PlainPoolStep(BufferId from, BufferId to, int64_t images, WindowPlan plan)
      : from_(from), to_(to), images_(images), plan_(std::move(plan)) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const T* image = state.input<T>(from_);
    T* to = state.output<T>(to_);
    const auto& [depth, height, width] = plan_;
    for (int64_t i = 0; i < images_; ++i) {
      for (const Taps& z : depth.positions)
        for (const Taps& y : height.positions)
          for (const Taps& x : width.positions) *to++ = pool(image, z, y, x);
      image += depth.size * height.size * width.size;
    }
    return {};
  }

 private:
  T pool(const T* image, const Taps& z, const Taps& y, const Taps& x) const noexcept {
    const auto& [depth, height, width] = plan_;
    Function function;
    for (int64_t k = 0; k < z.count; ++k)
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t plane = (z.first + k * depth.step) * height.size;
        const T* row = image + (plane + y.first + j * height.step) * width.size;
        for (int64_t i = 0; i < x.count; ++i) function.add(row[x.first + i * width.step]);
      }
    return function.result(z.counted * y.counted * x.counted);
  }

  BufferId from_, to_;
  int64_t images_;
  WindowPlan plan_;
};

// Integers have a maximum only.
template <class T>
std::unique_ptr<const Step> make_step(PoolKind kind, BufferId from, BufferId to, int64_t images,
                                      WindowPlan plan) {
  if constexpr (!std::is_integral_v<T>) {
    if (kind == PoolKind::kAverage)
      return std::make_unique<PlainPoolStep<T, Mean<T>>>(from, to, images, std::move(plan));
  }
  return std::make_unique<PlainPoolStep<T, Largest<T>>>(from, to, images, std::move(plan));
}

std::unique_ptr<const Step> make_step(const Builder& builder, DataType type, PoolKind kind,
                                      BufferId from, BufferId to, int64_t images, WindowPlan plan) {
  if (type == DataType::kInt8) return make_step<int8_t>(kind, from, to, images, std::move(plan));
  if (type == DataType::kUint8) return make_step<uint8_t>(kind, from, to, images, std::move(plan));
  return with_element(builder.type(), [&](auto element) {
    return make_step<decltype(element)>(kind, from, to, images, std::move(plan));
  });
}

}  // namespace

Status add_plain_pooling(Builder& builder, const Node& node, const graph::Pool& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  const Operand to = builder.new_result(y, builder.plain_form(y));
  const Dims dims = builder.dims(x);
  builder.add("Pool", "millrace:pool",
              make_step(builder, builder.value(x).type, op.kind, from.buffer, to.buffer,
                        dims[0] * dims[1], window_plan(op, dims, builder.dims(y))));
  return {};
}

}  // namespace millrace::device::cpu::kernels
