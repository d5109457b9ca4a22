// Pool on plain tensors: for integers, for windows that oneDNN refuses, and for the maximum of
// images whose channels are not contiguous.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/pooling/pooling.h"
#include "device/cpu/kernels/pooling/window_plan.h"
#include "device/cpu/steps/parts.h"

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

template <class Number>
constexpr Number kLeast = std::numeric_limits<Number>::lowest();
template <>
constexpr float kLeast<float> = -std::numeric_limits<float>::infinity();

// Accumulates the elements of one window: their maximum.
template <class T>
class Largest {
 public:
  void add(T element) {
    const Number number = load(element);
    // NaN is the largest.
    if (largest_ < number || number != number) largest_ = number;
  }
  T result(int64_t) const {
    if constexpr (std::is_integral_v<T>)
      return largest_;
    else
      return from_float<T>(largest_);
  }

 private:
  using Number = decltype(load(T{}));
  // This value remains for a window that lies in the padding only.
  Number largest_ = kLeast<Number>;
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
  PlainPoolStep(BufferId from, BufferId to, size_t images, WindowPlan plan, uint32_t chunks)
      : from_(from),
        to_(to),
        images_(images),
        plan_(std::move(plan)),
        parts_(static_cast<uint32_t>(std::min<size_t>(chunks, images * rows()))) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const T* const from = state.input<T>(from_);
    T* const to = state.output<T>(to_);
    run_parts(state, parts_, [=, this](uint32_t number) {
      const Share share = share_of(images_ * rows(), number, parts_);
      for (size_t row = share.first; row < share.first + share.count; ++row)
        pool_row(from, to, row);
    });
    return {};
  }

 private:
  // Returns the number of rows of the result of one image.
  size_t rows() const noexcept { return plan_[0].positions.size() * plan_[1].positions.size(); }

  // Computes the row with this number; the rows of all images are counted.
  void pool_row(const T* from, T* to, size_t row) const noexcept {
    const auto& [depth, height, width] = plan_;
    const T* const image =
        from + row / rows() * static_cast<size_t>(depth.size * height.size * width.size);
    const size_t in_image = row % rows();
    const Taps& z = depth.positions[in_image / height.positions.size()];
    const Taps& y = height.positions[in_image % height.positions.size()];
    to += row * width.positions.size();
    for (const Taps& x : width.positions) *to++ = pool(image, z, y, x);
  }

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

  const BufferId from_, to_;
  const size_t images_;
  const WindowPlan plan_;
  const uint32_t parts_;
};

// Integers have a maximum only.
template <class T>
std::unique_ptr<const Step> make_step(PoolKind kind, BufferId from, BufferId to, size_t images,
                                      WindowPlan plan, uint32_t chunks) {
  if constexpr (!std::is_integral_v<T>) {
    if (kind == PoolKind::kAverage)
      return std::make_unique<PlainPoolStep<T, Mean<T>>>(from, to, images, std::move(plan), chunks);
  }
  return std::make_unique<PlainPoolStep<T, Largest<T>>>(from, to, images, std::move(plan), chunks);
}

// Calls `body` with an element of the type that x has in memory.
template <class Body>
auto with_element_of(const Builder& builder, graph::ValueId x, Body&& body) {
  if (builder.is_floating(x)) return with_element(builder.type(), body);
  return builder.value(x).type == DataType::kInt8 ? body(int8_t{}) : body(uint8_t{});
}

}  // namespace

Result<Operand> add_plain_pooling(Builder& builder, const graph::Pool& op, graph::ValueId x,
                                  const Dims& dims) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  const Operand to = builder.new_temporary(
      builder.is_floating(x) ? plain_desc(dims, builder.type())
                             : bytes_desc(static_cast<size_t>(std::accumulate(
                                   dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()))));
  const auto images = static_cast<size_t>(dims[0] * dims[1]);
  with_element_of(builder, x, [&](auto element) {
    builder.add(
        "Pool", "millrace:pool",
        make_step<decltype(element)>(op.kind, from.buffer, to.buffer, images,
                                     window_plan(op, builder.dims(x), dims), builder.chunks()));
  });
  return to;
}

}  // namespace millrace::device::cpu::kernels
