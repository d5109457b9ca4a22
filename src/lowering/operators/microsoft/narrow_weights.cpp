// Operators of com.microsoft with weights of fewer bits, which become FLOAT32 while the model is
// compiled: MatMulNBits and DynamicQuantizeLSTM.
#include <fmt/format.h>

#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/handlers.h"
#include "tensor/half.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using tensor::DataType;

constexpr size_t kNBitsWeights = 1, kNBitsScales = 2, kNBitsZeros = 3, kNBitsOrder = 4,
                 kNBitsBias = 5;

// Weights [columns, blocks, bytes of a block]: each block has a scale and a zero point, and numbers
// of four or eight bits, the lower ones first in a byte. Zero points of a column fill whole bytes.
struct BlockedWeights {
  int64_t depth = 0, columns = 0, bits = 4, block = 32;

  int64_t blocks() const { return depth / block + (depth % block != 0 ? 1 : 0); }
  int64_t bytes(int64_t numbers) const { return (numbers * bits + 7) / 8; }
};

uint32_t number_at(std::span<const uint8_t> bytes, int64_t index, int64_t bits) {
  if (bits == 8) return bytes[static_cast<size_t>(index)];
  return bytes[static_cast<size_t>(index / 2)] >> (index % 2 * 4) & 0xfu;
}

Result<BlockedWeights> read_format(NodeImport& node) {
  BlockedWeights format{node.int_attribute("K", 0), node.int_attribute("N", 0),
                        node.int_attribute("bits", 4), node.int_attribute("block_size", 32)};
  if (format.bits != 4 && format.bits != 8)
    return unsupported(fmt::format("weights of {} bits are not covered", format.bits));
  constexpr int64_t kLargest = graph::kMaxElements;
  const auto in_range = [](int64_t size) { return size >= 1 && size <= kLargest; };
  if (!in_range(format.depth) || !in_range(format.columns) || !in_range(format.block) ||
      !checked_product(Dims{format.depth, format.columns}))
    return invalid_argument("K, N or block_size is out of range");
  if (node.has(kNBitsOrder)) return unsupported("weights in another order are not covered");
  return format;
}

// Whether the operand has that many elements, and bytes where it has to.
Status check_operand(NodeImport& node, size_t index, DataType type, int64_t columns, int64_t each) {
  MILLRACE_RETURN_IF_ERROR(node.require_constant(index));
  if (type == DataType::kUint8 && node.value(index).type != type)
    return unsupported(fmt::format("input {} is not UINT8", index));
  const auto wanted = checked_product(Dims{columns, each});
  if (wanted && node.value(index).elements() == static_cast<size_t>(*wanted)) return {};
  return invalid_argument(
      fmt::format("input {} has not {} elements for each of {} columns", index, each, columns));
}

Result<std::vector<float>> scales_of(NodeImport& node) {
  if (node.value(kNBitsScales).type != DataType::kFp16) return node.constant_floats(kNBitsScales);
  std::vector<float> scales;
  for (const uint16_t bits : node.value(kNBitsScales).constant->as<uint16_t>())
    scales.push_back(tensor::fp16_to_float(bits));
  return scales;
}

// [columns, depth]
Result<ValueId> widened(NodeImport& node, const BlockedWeights& format) {
  const int64_t blocks = format.blocks(), zero_bytes = format.bytes(blocks);
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kNBitsWeights, DataType::kUint8, format.columns,
                                         blocks * format.bytes(format.block)));
  MILLRACE_RETURN_IF_ERROR(
      check_operand(node, kNBitsScales, DataType::kFloat32, format.columns, blocks));
  if (node.has(kNBitsZeros))
    MILLRACE_RETURN_IF_ERROR(
        check_operand(node, kNBitsZeros, DataType::kUint8, format.columns, zero_bytes));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> scales, scales_of(node));
  MILLRACE_RETURN_IF_ERROR(node.builder().check_computed(
      static_cast<size_t>(format.columns * format.depth) * sizeof(float)));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant,
                            make_constant(DataType::kFloat32, {format.columns, format.depth}));
  const auto weights = node.value(kNBitsWeights).constant->as<uint8_t>();
  const auto zeros = node.has(kNBitsZeros) ? node.value(kNBitsZeros).constant->as<uint8_t>()
                                           : std::span<const uint8_t>();
  float* to = constant.as<float>().data();
  for (int64_t column = 0; column < format.columns; ++column)
    for (int64_t k = 0; k < format.depth; ++k) {
      const int64_t block = k / format.block, number = column * blocks + block;
      const auto bytes = weights.subspan(static_cast<size_t>(number * format.bytes(format.block)));
      const auto zero = zeros.empty()
                            ? uint32_t{1} << (format.bits - 1)
                            : number_at(zeros.subspan(static_cast<size_t>(column * zero_bytes)),
                                        block, format.bits);
      const auto q = static_cast<float>(number_at(bytes, k % format.block, format.bits));
      *to++ = (q - static_cast<float>(zero)) * scales[static_cast<size_t>(number)];
    }
  return node.add_computed(std::move(constant.value));
}

// Weights of DynamicQuantizeLSTM, [directions, inputs, 4 * hidden], in the standard's order. Scale
// and zero point are behind each other: one per direction, or one per output.
Result<ValueId> lstm_weights(NodeImport& node, size_t weights, size_t scale) {
  const Dims shape = node.shape(weights);
  if (shape.size() != 3 || !node.has(scale))
    return invalid_argument("its weights have no three dimensions, or no scale");
  const auto aligned = [&](size_t index) -> Result<ValueId> {
    const Dims& own = node.shape(index);
    const bool per_output = own == Dims{shape[0], shape[2]};
    if (!per_output && own != Dims{shape[0]} && node.value(index).elements() != 1)
      return invalid_argument(fmt::format("input {} is not one per direction or output", index));
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
  graph::Fallback op{"LSTM", {}};
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

// Inputs: x, weights, their scales, zero points, order of the inputs, bias.
Result<ValueId> import_matmul_n_bits(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const BlockedWeights format, read_format(node));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, widened(node, format));
  graph::MatMul product;
  product.transpose_b = true;
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, node.emit(product, {node.operand(0), weights}));
  return node.has(kNBitsBias) ? node.binary(BinaryKind::kAdd, y, node.operand(kNBitsBias)) : y;
}

// Inputs: those of LSTM, with weights as bytes, then scale and zero point of each. What it reads is
// rounded to bytes as by DynamicQuantizeLinear; what it passes from step to step is not.
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
