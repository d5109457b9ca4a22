// Reduce: each row of contiguous elements gives one; a reduction over the spatial dimensions of an
// image is pooling.
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/pooling/pooling.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::ReduceKind;
using graph::ValueId;

struct Sum {
  static constexpr float kStart = 0;
  float operator()(float a, float b) const { return a + b; }
};
// The result is NaN if one of the elements is NaN.
struct Max {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  float operator()(float a, float b) const { return a < b || b != b ? b : a; }
};
struct Min {
  static constexpr float kStart = std::numeric_limits<float>::infinity();
  float operator()(float a, float b) const { return b < a || b != b ? b : a; }
};
struct Product {
  static constexpr float kStart = 1;
  float operator()(float a, float b) const { return a * b; }
};

template <class T, class F>
class ReduceRowsStep final : public Step {
 public:
  // `scale` multiplies every result.
  ReduceRowsStep(BufferId from, BufferId to, size_t rows, size_t length, float scale)
      : from_(from), to_(to), rows_(rows), length_(length), scale_(scale) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const T* from = state.input<T>(from_);
    T* to = state.output<T>(to_);
    for (size_t row = 0; row < rows_; ++row, from += length_)
      to[row] = from_float<T>(reduce(from) * scale_);
    return {};
  }

 private:
  // Computes several results side by side, so that the compiler can use vectors.
  float reduce(const T* from) const noexcept {
    constexpr size_t kLanes = 16;
    F function;
    float lanes[kLanes];
    std::fill_n(lanes, kLanes, F::kStart);
    size_t i = 0;
    for (; i + kLanes <= length_; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = function(lanes[lane], to_float(from[i + lane]));
    float result = F::kStart;
    for (; i < length_; ++i) result = function(result, to_float(from[i]));
    for (float lane : lanes) result = function(result, lane);
    return result;
  }

  BufferId from_, to_;
  size_t rows_, length_;
  float scale_;
};

template <class Body>
void with_function(ReduceKind kind, Body&& body) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kMean:
      return body(Sum{});
    case ReduceKind::kMax:
      return body(Max{});
    case ReduceKind::kMin:
      return body(Min{});
    case ReduceKind::kProd:
      return body(Product{});
  }
}

// Whether the reduction is over all spatial dimensions of an image whose channels are contiguous.
bool is_global_pooling(const graph::Reduce& op, const Operand& location) {
  const auto rank = static_cast<int64_t>(location.desc.dims().size());
  if (op.kind != ReduceKind::kMean && op.kind != ReduceKind::kMax) return false;
  if (rank < 3 || is_plain(location.desc)) return false;
  Dims spatial(static_cast<size_t>(rank - 2));
  std::iota(spatial.begin(), spatial.end(), 2);
  return op.axes == spatial;
}

Status lower_pooling(Builder& builder, const Node& node, const graph::Reduce& op) {
  const ValueId y = node.outputs[0];
  const auto kind = op.kind == ReduceKind::kMax ? graph::PoolKind::kMax : graph::PoolKind::kAverage;
  MILLRACE_ASSIGN_OR_RETURN(Operand result, add_global_pooling(builder, kind, node.input(0)));
  auto seen = reshaped(result.desc, builder.dims(y));
  if (!seen) {
    const Operand plain =
        builder.reordered(y, result, plain_desc(result.desc.dims(), builder.type()));
    result = plain;
    seen = builder.plain_layout(y);
  }
  builder.set_result(y, {result.buffer, *seen});
  return {};
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Reduce& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  if (is_global_pooling(op, now)) return lower_pooling(builder, node, op);
  const Dims dims = builder.dims(x);
  std::vector<uint32_t> kept, reduced;
  size_t length = 1;
  for (uint32_t i = 0; i < dims.size(); ++i) {
    const bool goes = std::ranges::find(op.axes, int64_t{i}) != op.axes.end();
    (goes ? reduced : kept).push_back(i);
    if (goes) length *= static_cast<size_t>(dims[i]);
  }
  std::vector<uint32_t> order = kept;
  order.insert(order.end(), reduced.begin(), reduced.end());
  MILLRACE_ASSIGN_OR_RETURN(const Operand from,
                            builder.in_layout(x, ordered_desc(dims, builder.type(), order)));
  const Operand to = builder.new_result(y, builder.plain_layout(y));
  const size_t rows = builder.value(y).elements();
  const float scale = op.kind == ReduceKind::kMean ? 1.0f / static_cast<float>(length) : 1.0f;
  with_element(builder.type(), [&](auto element) {
    with_function(op.kind, [&](auto function) {
      using Step = ReduceRowsStep<decltype(element), decltype(function)>;
      builder.add("Reduce", "millrace:reduce_rows",
                  std::make_unique<Step>(from.buffer, to.buffer, rows, length, scale));
    });
  });
  return {};
}

}  // namespace millrace::device::cpu::kernels
