// Softmax on integers. Adding a constant to a row does not change its softmax, so the exponentials
// are those of the distances to the largest element of the row: a table of 256.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "tensor/element.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::ValueId;
using tensor::ElementRule;

class SoftmaxStep final : public Step {
 public:
  struct Rows {
    size_t count, length;
  };

  SoftmaxStep(bool log, const Rows& rows, const ByteConversion& from_bytes, float scale,
              const ByteConversion& to_bytes, const ElementRule& to_rule, BufferId from,
              BufferId to)
      : log_(log),
        rows_(rows),
        from_bytes_(from_bytes),
        scale_(scale),
        to_bytes_(to_bytes),
        to_rule_(to_rule),
        from_(from),
        to_(to) {
    for (size_t distance = 0; distance < powers_.size(); ++distance)
      powers_[distance] = std::exp(-double{scale} * static_cast<double>(distance));
  }
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const auto* from = state.input<std::byte>(from_);
    auto* to = state.output<std::byte>(to_);
    for (size_t i = 0; i < rows_.count; ++i, from += rows_.length, to += rows_.length)
      normalise(from, to);
    return {};
  }

 private:
  static constexpr size_t kPiece = 1024;

  void normalise(const std::byte* from, std::byte* to) const {
    int32_t largest = number(from[0]);
    for (size_t k = 1; k < rows_.length; ++k) largest = std::max(largest, number(from[k]));
    double sum = 0;
    for (size_t k = 0; k < rows_.length; ++k) sum += power(largest, from[k]);
    const double factor = 1 / sum, logarithm = std::log(sum);
    std::array<float, kPiece> numbers;
    for (size_t k = 0; k < rows_.length; k += kPiece) {
      const size_t count = std::min(kPiece, rows_.length - k);
      for (size_t i = 0; i < count; ++i)
        numbers[i] =
            static_cast<float>(log_ ? double{scale_} * (number(from[k + i]) - largest) - logarithm
                                    : power(largest, from[k + i]) * factor);
      to_bytes_.quantise(numbers.data(), to + k, count, to_rule_);
    }
  }

  int32_t number(std::byte byte) const { return from_bytes_.number(byte); }
  double power(int32_t largest, std::byte byte) const {
    return powers_[static_cast<size_t>(largest - number(byte))];
  }

  const bool log_;
  const Rows rows_;
  const ByteConversion from_bytes_;
  const float scale_;
  const ByteConversion to_bytes_;
  const ElementRule to_rule_;
  const BufferId from_, to_;
  std::array<double, 256> powers_;  // of e, by distance
};

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Softmax& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  const auto from_rule = rule_of(builder, x), to_rule = rule_of(builder, y);
  if (!from_rule || !to_rule) return false;
  const Dims dims = builder.dims(x);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < dims.size(); ++i)
    if (i != op.axis) order.push_back(i);
  order.push_back(static_cast<uint32_t>(op.axis));
  const Desc rows = ordered_desc(dims, builder.stored_type(x), order);
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.stored_in(x, rows));
  const Operand to = builder.new_stored_result(y, with_type(rows, builder.stored_type(y)));
  const auto length = static_cast<size_t>(dims[static_cast<size_t>(op.axis)]);
  builder.add("Softmax", "millrace:softmax_bytes",
              std::make_unique<SoftmaxStep>(
                  op.log, SoftmaxStep::Rows{builder.value(x).elements() / length, length},
                  ByteConversion(builder.value(x).type), from_rule->scale,
                  ByteConversion(builder.value(y).type), *to_rule, from.buffer, to.buffer));
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
