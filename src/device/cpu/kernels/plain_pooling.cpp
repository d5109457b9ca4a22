// Pool over plain memory: for integers, and for the windows that the library refuses.
#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/pooling.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::PoolKind;
using tensor::DataType;

constexpr size_t kSpatial = 3;  // fewer dimensions get ones in front

// What a window sees of one dimension at one of its positions.
struct Taps {
  int64_t first = 0;    // the first index of the input,
  int64_t count = 0;    // and how many there are, a dilation apart
  int64_t counted = 0;  // how many elements the mean divides by, padding included where it counts
};

// How the window moves over one dimension.
struct Axis {
  int64_t size = 1;                               // of the input
  int64_t step = 1;                               // the dilation
  std::vector<Taps> positions = {Taps{0, 1, 1}};  // one per output index
};

struct Plan {
  int64_t images = 1;  // batch times channels
  std::array<Axis, kSpatial> axes;
};

// How many of `limit` taps from `start` on lie before `end`.
int64_t taps_before(int64_t start, int64_t end, int64_t dilation, int64_t limit) {
  if (end <= start) return 0;
  return std::min(limit, (end - start + dilation - 1) / dilation);
}

Axis axis_of(const graph::Pool& op, size_t d, int64_t size, int64_t positions) {
  Axis axis{size, op.dilations[d], {}};
  const int64_t kernel = op.kernel[d], dilation = op.dilations[d];
  for (int64_t i = 0; i < positions; ++i) {
    const int64_t start = i * op.strides[d] - op.pads_begin[d];
    const int64_t hidden = taps_before(start, 0, dilation, kernel);
    const int64_t inside = taps_before(start, size, dilation, kernel) - hidden;
    const int64_t end = size + op.pads_end[d] - op.ceil_excess[d];
    const int64_t counted =
        op.count_include_pad ? taps_before(start, end, dilation, kernel) : inside;
    axis.positions.push_back({start + hidden * dilation, inside, counted});
  }
  return axis;
}

Plan plan_of(const graph::Pool& op, const Dims& from, const Dims& to) {
  Plan plan;
  plan.images = from[0] * from[1];
  const size_t spatial = op.kernel.size();
  for (size_t d = 0; d < spatial; ++d)
    plan.axes[kSpatial - spatial + d] = axis_of(op, d, from[d + 2], to[d + 2]);
  return plan;
}

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
  PlainPoolStep(BufferId from, BufferId to, Plan plan)
      : from_(from), to_(to), plan_(std::move(plan)) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const T* image = state.input<T>(from_);
    T* to = state.output<T>(to_);
    const auto& [depth, height, width] = plan_.axes;
    for (int64_t i = 0; i < plan_.images; ++i) {
      for (const Taps& z : depth.positions)
        for (const Taps& y : height.positions)
          for (const Taps& x : width.positions) *to++ = pool(image, z, y, x);
      image += depth.size * height.size * width.size;
    }
    return {};
  }

 private:
  T pool(const T* image, const Taps& z, const Taps& y, const Taps& x) const noexcept {
    const auto& [depth, height, width] = plan_.axes;
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
  Plan plan_;
};

// Integers have a maximum only.
template <class T>
std::unique_ptr<const Step> make_step(PoolKind kind, BufferId from, BufferId to, Plan plan) {
  if constexpr (!std::is_integral_v<T>) {
    if (kind == PoolKind::kAverage)
      return std::make_unique<PlainPoolStep<T, Mean<T>>>(from, to, std::move(plan));
  }
  return std::make_unique<PlainPoolStep<T, Largest<T>>>(from, to, std::move(plan));
}

std::unique_ptr<const Step> make_step(const Builder& builder, DataType type, PoolKind kind,
                                      BufferId from, BufferId to, Plan plan) {
  if (type == DataType::kInt8) return make_step<int8_t>(kind, from, to, std::move(plan));
  if (type == DataType::kUint8) return make_step<uint8_t>(kind, from, to, std::move(plan));
  return with_element(builder.type(), [&](auto element) {
    return make_step<decltype(element)>(kind, from, to, std::move(plan));
  });
}

}  // namespace

Status add_plain_pooling(Builder& builder, const Node& node, const graph::Pool& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.plain(x));
  const Operand to = builder.new_result(y, builder.plain_form(y));
  builder.add("Pool", "millrace:pool",
              make_step(builder, builder.value(x).type, op.kind, from.buffer, to.buffer,
                        plan_of(op, builder.dims(x), builder.dims(y))));
  return {};
}

}  // namespace millrace::device::cpu::kernels
