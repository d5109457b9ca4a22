#include "device/cpu/kernels/quantised/table.h"

#include <memory>

#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"
#include "graph/reference/functions.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::ValueId;

class TableStep final : public Step {
 public:
  TableStep(const ByteTable& table, size_t count, BufferId from, BufferId to)
      : table_(table), count_(count), from_(from), to_(to) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const auto* from = state.input<uint8_t>(from_);
    auto* to = state.output<uint8_t>(to_);
    for (size_t i = 0; i < count_; ++i) to[i] = table_[from[i]];
    return {};
  }

 private:
  const ByteTable table_;
  const size_t count_;
  const BufferId from_, to_;
};

}  // namespace

std::vector<double> numbers_of_bytes(const Builder& builder, ValueId id) {
  const ByteConversion conversion(builder.value(id).type);
  const tensor::ElementRule rule = *rule_of(builder, id);
  std::vector<double> numbers;
  for (int byte = 0; byte < 256; ++byte)
    numbers.push_back(
        tensor::dequantise<double>(conversion.number(static_cast<std::byte>(byte)), rule));
  return numbers;
}

ByteTable bytes_of_numbers(const Builder& builder, ValueId id, const std::vector<double>& numbers) {
  const bool is_signed = builder.stored_type(id) == ElementType::s8;
  const tensor::ElementRule rule = *rule_of(builder, id);
  ByteTable bytes;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = is_signed ? static_cast<uint8_t>(tensor::quantise<int8_t>(numbers[i], rule))
                         : tensor::quantise<uint8_t>(numbers[i], rule);
  return bytes;
}

void add_table(Builder& builder, const char* operation, const ByteTable& table, const Operand& from,
               const Operand& to) {
  builder.add(operation, "millrace:table",
              std::make_unique<TableStep>(table, from.desc.get_size(), from.buffer, to.buffer));
}

Result<Operand> stored_as(Builder& builder, ValueId x, ValueId y) {
  if (same_quantisation(builder, x, y)) return builder.stored(x);
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, dense(builder, x));
  const Operand to = builder.new_temporary(with_type(from.desc, builder.stored_type(y)));
  add_table(builder, "Requantise", bytes_of_numbers(builder, y, numbers_of_bytes(builder, x)), from,
            to);
  return to;
}

// Computes in FLOAT64, so that only numbers next to a tie may be rounded the other way.
Result<bool> lower(Builder& builder, const Node& node, const graph::Unary& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  if (!rule_of(builder, x) || !rule_of(builder, y)) return false;
  std::vector<double> numbers = numbers_of_bytes(builder, x);
  for (double& number : numbers) number = graph::reference::value_of(op.function, number);
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, dense(builder, x));
  const Operand to = builder.new_stored_result(y, with_type(from.desc, builder.stored_type(y)));
  add_table(builder, "Unary", bytes_of_numbers(builder, y, numbers), from, to);
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
