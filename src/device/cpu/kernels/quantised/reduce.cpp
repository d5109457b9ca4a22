// Reduce on integers: sums, means, maxima and minima of rows of bytes, with any quantisation.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::ReduceKind;
using graph::ValueId;
using tensor::ElementRule;

struct Rows {
  size_t count, length;
};

template <class From, class To>
class ReduceStep final : public Step {
 public:
  // A row gives a sum in the scale of x, less `zeros`; `factor` converts it to the scale of y.
  ReduceStep(ReduceKind kind, const Rows& rows, int64_t zeros, float factor, int32_t zero_point,
             BufferId from, BufferId to)
      : kind_(kind),
        rows_(rows),
        zeros_(zeros),
        factor_(factor),
        to_rule_{1, zero_point},
        from_(from),
        to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const From* row = state.input<From>(from_);
    To* to = state.output<To>(to_);
    for (size_t i = 0; i < rows_.count; ++i, row += rows_.length)
      to[i] = tensor::quantise<To>(static_cast<float>(reduce(row) - zeros_) * factor_, to_rule_);
    return {};
  }

 private:
  int64_t reduce(const From* row) const {
    if (kind_ == ReduceKind::kMax) return *std::max_element(row, row + rows_.length);
    if (kind_ == ReduceKind::kMin) return *std::min_element(row, row + rows_.length);
    int32_t sum = 0;
    for (size_t i = 0; i < rows_.length; ++i) sum += row[i];
    return sum;
  }

  const ReduceKind kind_;
  const Rows rows_;
  const int64_t zeros_;
  const float factor_;
  const ElementRule to_rule_;
  const BufferId from_, to_;
};

// Calls `body` with a 0 of the type of the value.
template <class Body>
void with_byte(const Builder& builder, ValueId id, Body body) {
  if (builder.stored_type(id) == ElementType::s8)
    body(int8_t{});
  else
    body(uint8_t{});
}

// Returns the dimensions that are kept, outermost first, followed by those that are reduced.
std::vector<uint32_t> order_of(const graph::Reduce& op, size_t rank) {
  std::vector<uint32_t> order;
  for (const bool goes : {false, true})
    for (uint32_t i = 0; i < rank; ++i)
      if ((std::ranges::find(op.axes, int64_t{i}) != op.axes.end()) == goes) order.push_back(i);
  return order;
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Reduce& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  const auto from_rule = rule_of(builder, x), to_rule = rule_of(builder, y);
  if (!from_rule || !to_rule || op.kind == ReduceKind::kProd || builder.is_empty(x)) return false;
  const size_t count = builder.value(y).elements();
  const Rows rows{count, builder.value(x).elements() / count};
  // The sum of this many bytes less their zero points is below 2^31.
  constexpr size_t kLongest = size_t{1} << 22;
  const bool adds_up = op.kind == ReduceKind::kSum || op.kind == ReduceKind::kMean;
  const auto divisor = static_cast<double>(op.kind == ReduceKind::kMean ? rows.length : 1);
  const auto factor = static_cast<float>(from_rule->scale / (double{to_rule->scale} * divisor));
  if (rows.length > kLongest || !std::isnormal(factor)) return false;
  const Dims dims = builder.dims(x);
  MILLRACE_ASSIGN_OR_RETURN(
      const Operand from,
      builder.stored_in(x, ordered_desc(dims, builder.stored_type(x), order_of(op, dims.size()))));
  const Operand to = builder.new_stored_result(y, builder.plain_stored_form(y));
  const int64_t zeros = (adds_up ? static_cast<int64_t>(rows.length) : 1) * from_rule->zero_point;
  with_byte(builder, x, [&](auto from_byte) {
    with_byte(builder, y, [&](auto to_byte) {
      builder.add("Reduce", "millrace:reduce_bytes",
                  std::make_unique<ReduceStep<decltype(from_byte), decltype(to_byte)>>(
                      op.kind, rows, zeros, factor, to_rule->zero_point, from.buffer, to.buffer));
    });
  });
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
