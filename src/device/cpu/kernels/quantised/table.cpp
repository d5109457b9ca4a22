#include "device/cpu/kernels/quantised/table.h"

#include <memory>
#include <numeric>
#include <optional>

#include "device/cpu/byte_conversion.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/quantised.h"

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

std::vector<float> numbers_of_bytes(const Builder& builder, ValueId id) {
  const ByteConversion conversion(builder.value(id).type);
  ByteTable bytes;
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::vector<float> numbers(bytes.size());
  conversion.dequantise(reinterpret_cast<const std::byte*>(bytes.data()), numbers.data(),
                        bytes.size(), *rule_of(builder, id));
  return numbers;
}

ByteTable bytes_of_numbers(const Builder& builder, ValueId id, const std::vector<float>& numbers) {
  const ByteConversion conversion(builder.value(id).type);
  ByteTable bytes;
  conversion.quantise(numbers.data(), reinterpret_cast<std::byte*>(bytes.data()), bytes.size(),
                      *rule_of(builder, id));
  return bytes;
}

void add_table(Builder& builder, const char* operation, const ByteTable& table, const Operand& from,
               const Operand& to) {
  builder.add(operation, "millrace:table",
              std::make_unique<TableStep>(table, from.desc.get_size(), from.buffer, to.buffer));
}

Result<Operand> stored_as(Builder& builder, ValueId x, ValueId y) {
  if (same_form(builder, x, y)) return builder.stored(x);
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, dense(builder, x));
  const Operand to = builder.new_temporary(with_type(from.desc, builder.stored_type(y)));
  add_table(builder, "Requantise", bytes_of_numbers(builder, y, numbers_of_bytes(builder, x)), from,
            to);
  return to;
}

namespace {

// `numbers` after the library's function.
bool apply(const Builder& builder, const Eltwise& eltwise, std::vector<float>& numbers) {
  const Desc desc = plain_desc({static_cast<int64_t>(numbers.size())}, ElementType::f32);
  const dnnl::eltwise_forward::primitive_desc primitive(
      {dnnl::prop_kind::forward_inference, eltwise.algorithm, desc, eltwise.alpha, eltwise.beta},
      builder.engine(), /*allow_empty=*/true);
  if (!primitive) return false;
  const dnnl::memory memory(desc, builder.engine(), numbers.data());
  dnnl::stream stream(builder.engine());
  dnnl::eltwise_forward(primitive).execute(stream,
                                           {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}});
  stream.wait();
  return true;
}

bool apply(const Builder& builder, const graph::Activation& function, std::vector<float>& numbers) {
  using dnnl::algorithm;
  if (function.kind == graph::UnaryKind::kIdentity) return true;
  if (function.kind == graph::UnaryKind::kHardSigmoid)
    return apply(builder, {algorithm::eltwise_linear, function.alpha, function.beta}, numbers) &&
           apply(builder, {algorithm::eltwise_clip, 0, 1}, numbers);
  const auto eltwise = eltwise_of(function);
  // The library's logarithm is far off at 1.
  return eltwise && function.kind != graph::UnaryKind::kLog && apply(builder, *eltwise, numbers);
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Unary& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  if (!rule_of(builder, x) || !rule_of(builder, y)) return false;
  std::vector<float> numbers = numbers_of_bytes(builder, x);
  if (!apply(builder, op.function, numbers)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, dense(builder, x));
  const Operand to = builder.new_stored_result(y, with_type(from.desc, builder.stored_type(y)));
  add_table(builder, "Unary", bytes_of_numbers(builder, y, numbers), from, to);
  return true;
}

}  // namespace millrace::device::cpu::kernels::quantised
