// Handler of DynamicQuantizeLSTM of com.microsoft: an LSTM with 8-bit weights, which quantises its
// input and state dynamically. The weights are dequantised to FLOAT32, and millrace.RoundedLSTM
// (src/fallback) computes with rounded states.
#include <fmt/format.h>

#include <algorithm>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using tensor::DataType;

// Returns weights, [directions, inputs, 4 * hidden], dequantised and transposed as the LSTM of the
// standard has them. Operand `scale` is their scale, and the next one their zero point: one
// element, one per direction, or one per direction and output.
Result<ValueId> lstm_weights(NodeImport& node, size_t weights, size_t scale) {
  const Dims shape = node.shape(weights);
  if (shape.size() != 3 || !node.has(scale))
    return invalid_argument("its weights must have rank 3 and a scale");
  const auto aligned = [&](size_t index) -> Result<ValueId> {
    const Dims& own = node.shape(index);
    const bool per_output = own == Dims{shape[0], shape[2]};
    if (!per_output && own != Dims{shape[0]} && node.value(index).elements() != 1)
      return invalid_argument(
          fmt::format("input {} must have one element, or one per direction or output", index));
    MILLRACE_ASSIGN_OR_RETURN(const ValueId x,
                              node.emit(graph::Cast{DataType::kFloat32}, {node.operand(index)}));
    const int64_t directions = node.value(index).elements() == 1 ? 1 : shape[0];
    return node.reshape(x, {directions, 1, per_output ? shape[2] : 1});
  };
  MILLRACE_ASSIGN_OR_RETURN(ValueId x,
                            node.emit(graph::Cast{DataType::kFloat32}, {node.operand(weights)}));
  if (node.has(scale + 1)) {
    MILLRACE_ASSIGN_OR_RETURN(const ValueId zero, aligned(scale + 1));
    MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kSub, x, zero));
  }
  MILLRACE_ASSIGN_OR_RETURN(const ValueId factor, aligned(scale));
  MILLRACE_ASSIGN_OR_RETURN(x, node.binary(BinaryKind::kMul, x, factor));
  return node.emit(graph::Transpose{{0, 2, 1}}, {x});
}

graph::Fallback lstm_of(NodeImport& node) {
  graph::Fallback op{"millrace.RoundedLSTM", {}};
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (const auto list = node.floats_attribute(name)) op.attributes.push_back({name, *list});
  if (const auto names = node.strings_attribute("activations"))
    op.attributes.push_back({"activations", *names});
  if (node.has_attribute("clip"))
    op.attributes.push_back({"clip", node.float_attribute("clip", 0)});
  op.attributes.push_back({"direction", node.string_attribute("direction", "forward")});
  for (const char* name : {"hidden_size", "input_forget"})
    if (node.has_attribute(name)) op.attributes.push_back({name, node.int_attribute(name, 0)});
  std::ranges::sort(op.attributes, {}, &graph::Attribute::name);
  return op;
}

}  // namespace

// Inputs: those of LSTM, with 8-bit weights; then scale and zero point of W and of R. The input,
// and the state that is passed from step to step, are rounded as DynamicQuantizeLinear does.
Result<ValueId> import_dynamic_quantize_lstm(NodeImport& node) {
  constexpr size_t kX = 0, kW = 1, kR = 2, kOfLstm = 8, kWScale = 8, kRScale = 10;
  MILLRACE_ASSIGN_OR_RETURN(
      const auto bytes, node.emit_fallback({"DynamicQuantizeLinear", {}}, {node.operand(kX)}, 3));
  MILLRACE_ASSIGN_OR_RETURN(const auto x, node.emit_fallback({"DequantizeLinear", {}}, bytes, 1));
  std::vector<ValueId> operands;
  for (size_t i = 0; i < kOfLstm; ++i) operands.push_back(node.operand(i));
  operands[kX] = x[0];
  MILLRACE_ASSIGN_OR_RETURN(operands[kW], lstm_weights(node, kW, kWScale));
  MILLRACE_ASSIGN_OR_RETURN(operands[kR], lstm_weights(node, kR, kRScale));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto y, node.emit_fallback(lstm_of(node), std::move(operands), node.output_count()));
  for (size_t i = 1; i < y.size(); ++i) node.set_output(i, y[i]);
  return y[0];
}

}  // namespace millrace::lowering
