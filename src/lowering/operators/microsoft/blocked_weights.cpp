// Handlers of MatMulNBits, MatMulBnb4 and GatherBlockQuantized of com.microsoft: operators with
// block-wise quantised weights of 2, 4 or 8 bits. Each block of consecutive weights has a scale and
// a zero point of its own, and stands for (q - zero_point) * scale. Those of MatMulBnb4 are indices
// into a table of numbers instead. A product of few rows, as in a decoder that generates one token
// at a time, takes as long as its weights take to be read, so those of MatMulNBits of 4 bits stay
// packed. All other weights are dequantised to FLOAT32 constants in the lowering.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/align.h"
#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"
#include "tensor/half.h"
#include "tensor/packed_integers.h"

namespace millrace::lowering {
namespace {

using graph::BinaryKind;
using graph::Dims;
using tensor::DataType;

bool are_covered(int64_t bits) {
  return bits == 2 || bits == 4 || bits == 8;
}

// Returns integer `index` of packed ones.
uint32_t integer_at(std::span<const uint8_t> bytes, int64_t index, int64_t bits) {
  return tensor::packed_integer(bytes.data(), static_cast<size_t>(index),
                                static_cast<size_t>(bits));
}

// Returns the elements of a constant operand as float.
Result<std::vector<float>> numbers_of(NodeImport& node, size_t index) {
  MILLRACE_RETURN_IF_ERROR(node.require_constant(index));
  if (node.value(index).type != DataType::kFp16) return node.constant_floats(index);
  std::vector<float> numbers;
  for (const uint16_t bits : node.value(index).constant->as<uint16_t>())
    numbers.push_back(tensor::fp16_to_float(bits));
  return numbers;
}

// Checks that an operand is a constant of `wanted` elements (nothing: their number overflowed).
Status check_count(NodeImport& node, size_t index, std::optional<int64_t> wanted) {
  MILLRACE_RETURN_IF_ERROR(node.require_constant(index));
  if (wanted && node.value(index).elements() == static_cast<size_t>(*wanted)) return {};
  return invalid_argument(
      fmt::format("input {} has shape {}, which does not fit its other inputs and attributes",
                  index, graph::to_string(node.shape(index))));
}

Result<MutableConstant> weights_of_shape(NodeImport& node, Dims shape) {
  return bounded_constant(node, DataType::kFloat32, std::move(shape), "a constant of weights");
}

constexpr size_t kWeights = 1, kScales = 2, kZeros = 3, kOrder = 4, kBias = 5;

// The layout of the weights of MatMulNBits: [columns, blocks, bytes of a block]. `depth` (K) is the
// number of weights of a column, and `block` that of a block. Packed zero points fill whole bytes
// for each column.
struct Blocks {
  int64_t depth = 0, columns = 0, bits = 4, block = 32;

  int64_t count() const { return ceil_div(depth, block); }
  int64_t bytes(int64_t numbers) const { return ceil_div(numbers * bits, int64_t{8}); }
};

Result<Blocks> read_blocks(NodeImport& node) {
  const Blocks blocks{node.int_attribute("K", 0), node.int_attribute("N", 0),
                      node.int_attribute("bits", 4), node.int_attribute("block_size", 32)};
  if (!are_covered(blocks.bits))
    return unsupported(
        fmt::format("weights of {} bits are not supported; 2, 4 and 8 bits are", blocks.bits));
  constexpr int64_t kLargest = graph::kMaxElements;
  const auto in_range = [](int64_t size) { return size >= 1 && size <= kLargest; };
  if (!in_range(blocks.depth) || !in_range(blocks.columns) || !in_range(blocks.block) ||
      !checked_product(Dims{blocks.depth, blocks.columns}))
    return invalid_argument("K, N or block_size is out of range");
  return blocks;
}

// Returns the zero point of each block. They are an operand of packed integers (UINT8) or of one
// element per block (other types); without it all are 2^(bits - 1).
Result<std::vector<float>> zeros_of(NodeImport& node, const Blocks& blocks) {
  const auto all = checked_product(Dims{blocks.columns, blocks.count()});
  if (!node.has(kZeros)) {
    const auto middle = static_cast<float>(1 << (blocks.bits - 1));
    return std::vector<float>(static_cast<size_t>(*all), middle);
  }
  if (node.value(kZeros).type != DataType::kUint8) {
    MILLRACE_RETURN_IF_ERROR(check_count(node, kZeros, all));
    return numbers_of(node, kZeros);
  }
  const int64_t bytes = blocks.bytes(blocks.count());
  MILLRACE_RETURN_IF_ERROR(check_count(node, kZeros, checked_product(Dims{blocks.columns, bytes})));
  const auto packed = node.value(kZeros).constant->as<uint8_t>();
  std::vector<float> zeros;
  for (int64_t column = 0; column < blocks.columns; ++column)
    for (int64_t block = 0; block < blocks.count(); ++block)
      zeros.push_back(static_cast<float>(
          integer_at(packed.subspan(static_cast<size_t>(column * bytes)), block, blocks.bits)));
  return zeros;
}

// Returns, for each row of the weights, the block whose scale and zero point it has: that of
// operand g_idx, or the block in which it lies.
Result<Dims> block_of_rows(NodeImport& node, const Blocks& blocks) {
  Dims result;
  if (!node.has(kOrder)) {
    for (int64_t k = 0; k < blocks.depth; ++k) result.push_back(k / blocks.block);
    return result;
  }
  MILLRACE_ASSIGN_OR_RETURN(result, node.constant_ints(kOrder));
  const bool fits = result.size() >= static_cast<size_t>(blocks.depth) &&
                    std::ranges::all_of(result, [&](int64_t block) {
                      return block >= 0 && block < blocks.count();
                    });
  if (fits) return result;
  return invalid_argument("its g_idx must be the index of a block for each row of the weights");
}

Status check_weights(NodeImport& node, const Blocks& blocks) {
  const int64_t count = blocks.count(), bytes = blocks.bytes(blocks.block);
  if (node.value(kWeights).type != DataType::kUint8)
    return unsupported("its weights must be UINT8");
  MILLRACE_RETURN_IF_ERROR(
      check_count(node, kWeights, checked_product(Dims{blocks.columns, count, bytes})));
  return check_count(node, kScales, checked_product(Dims{blocks.columns, count}));
}

// Returns the dequantised weights, [columns, depth].
Result<ValueId> widened(NodeImport& node, const Blocks& blocks) {
  const int64_t count = blocks.count(), bytes = blocks.bytes(blocks.block);
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> scales, numbers_of(node, kScales));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant,
                            weights_of_shape(node, {blocks.columns, blocks.depth}));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> zeros, zeros_of(node, blocks));
  MILLRACE_ASSIGN_OR_RETURN(const Dims block_of_row, block_of_rows(node, blocks));
  const auto weights = node.value(kWeights).constant->as<uint8_t>();
  float* to = constant.as<float>().data();
  for (int64_t column = 0; column < blocks.columns; ++column)
    for (int64_t k = 0; k < blocks.depth; ++k) {
      const int64_t place = (column * count + k / blocks.block) * bytes;
      const auto q = static_cast<float>(
          integer_at(weights.subspan(static_cast<size_t>(place)), k % blocks.block, blocks.bits));
      const auto parameter =
          static_cast<size_t>(column * count + block_of_row[static_cast<size_t>(k)]);
      *to++ = (q - zeros[parameter]) * scales[parameter];
    }
  return node.add_computed(std::move(constant.value));
}

// The 16 numbers that the weights of MatMulBnb4 stand for, as fractions of the largest magnitude in
// a block. FP4 has a sign bit and seven magnitudes. NF4 has quantiles of the normal distribution
// (QLoRA, Dettmers et al., 2023).
constexpr std::array<float, 16> kFp4 = {
    0.0f,  .0625f / 12,  8.0f / 12,  1.0f,  4.0f / 12,  6.0f / 12,  2.0f / 12,  3.0f / 12,
    -0.0f, -.0625f / 12, -8.0f / 12, -1.0f, -4.0f / 12, -6.0f / 12, -2.0f / 12, -3.0f / 12};
constexpr std::array<float, 16> kNf4 = {
    -1.0f,           -0.69619280099f, -0.52507305145f, -0.39491748809f,
    -0.28444138169f, -0.18477343023f, -0.09105003625f, 0.0f,
    0.07958029955f,  0.16093020141f,  0.24611230194f,  0.33791524171f,
    0.44070982933f,  0.56261700391f,  0.72295683622f,  1.0f};

// Returns the dequantised weights of MatMulBnb4, [N, K]. The blocks go on from one row to the next.
// Each byte holds two weights, the first in its upper half.
Result<ValueId> widened_by_table(NodeImport& node) {
  const Dims shape = {node.int_attribute("N", 0), node.int_attribute("K", 0)};
  const int64_t block = node.int_attribute("block_size", 0);
  const int64_t type = node.int_attribute("quant_type", -1);
  const auto count = checked_product(shape);
  if (shape[0] < 1 || shape[1] < 1 || block < 1 || !count)
    return invalid_argument("K, N or block_size is out of range");
  if (type != 0 && type != 1) return unsupported(fmt::format("quant_type {} is unknown", type));
  if (node.value(kWeights).type != DataType::kUint8)
    return unsupported("its weights must be UINT8");
  MILLRACE_RETURN_IF_ERROR(check_count(node, kWeights, ceil_div(*count, int64_t{2})));
  MILLRACE_RETURN_IF_ERROR(check_count(node, kScales, ceil_div(*count, block)));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> largest, numbers_of(node, kScales));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant, weights_of_shape(node, shape));
  const auto weights = node.value(kWeights).constant->as<uint8_t>();
  const std::array<float, 16>& table = type == 0 ? kFp4 : kNf4;
  const auto to = constant.as<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t index = i % 2 == 0 ? weights[i / 2] >> 4 : weights[i / 2] & 15;
    to[i] = table[index] * largest[i / static_cast<size_t>(block)];
  }
  return node.add_computed(std::move(constant.value));
}

// Whether the product is computed with packed weights.
bool keeps_packed(NodeImport& node, const Blocks& blocks) {
  // With more rows a product takes longer to compute than its weights take to be read.
  constexpr size_t kMostRows = 8;
  if (blocks.bits != 4 || blocks.block % 2 != 0 || node.has(kOrder)) return false;
  if (node.has(kZeros) && node.value(kZeros).type != DataType::kUint8) return false;
  return node.value(0).elements() / static_cast<size_t>(blocks.depth) <= kMostRows;
}

// Returns the product with packed weights.
Result<ValueId> packed_product(NodeImport& node, const Blocks& blocks) {
  std::vector<ValueId> operands = {node.operand(0), node.operand(kWeights), node.operand(kScales)};
  if (node.value(kScales).type != DataType::kFloat32) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> scales, numbers_of(node, kScales));
    MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant,
                              weights_of_shape(node, {blocks.columns, blocks.count()}));
    std::ranges::copy(scales, constant.as<float>().begin());
    MILLRACE_ASSIGN_OR_RETURN(operands[kScales], node.add_computed(std::move(constant.value)));
  }
  if (node.has(kZeros)) {
    MILLRACE_RETURN_IF_ERROR(check_count(
        node, kZeros, checked_product(Dims{blocks.columns, blocks.bytes(blocks.count())})));
    operands.push_back(node.operand(kZeros));
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto results, node.emit_fallback({"com.microsoft.MatMulNBits",
                                                                    {{"K", blocks.depth},
                                                                     {"N", blocks.columns},
                                                                     {"bits", blocks.bits},
                                                                     {"block_size", blocks.block}}},
                                                                   std::move(operands), 1));
  return results[0];
}

// Returns the product with dequantised weights.
Result<ValueId> widened_product(NodeImport& node, const Blocks& blocks) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, widened(node, blocks));
  graph::MatMul product;
  product.transpose_b = true;
  return node.emit(product, {node.operand(0), weights});
}

constexpr size_t kData = 0, kIndices = 1, kTableScales = 2, kTableZeros = 3;

// The data of GatherBlockQuantized, seen as [outer, size, inner], where `size` is the dimension
// that is divided into blocks. `shape` is that after unpacking.
struct Table {
  Dims shape;
  int64_t bits = 8, block = 128, blocks = 0;  // `bits` is 8 if each integer has a byte
  bool is_signed = false;
  float zero = 0;  // the zero point if the node has no zero points
  int64_t outer = 1, size = 1, inner = 1;
};

Result<Table> read_table(NodeImport& node) {
  const graph::Value& data = node.value(kData);
  if (data.type != DataType::kUint8 && data.type != DataType::kInt8)
    return unsupported("its data must be integers of 2, 4 or 8 bits");
  Table table;
  table.shape = data.shape;
  table.is_signed = data.type == DataType::kInt8;
  table.block = node.int_attribute("block_size", 128);
  MILLRACE_ASSIGN_OR_RETURN(
      const size_t axis, normalise_axis(node.int_attribute("quantize_axis", 1), data.shape.size()));
  // INT4 and UINT4 have been unpacked to a byte each. UINT8 holds packed integers, along the last
  // dimension.
  if (!table.is_signed && node.int_attribute("four_bits", 0) == 0) {
    table.bits = node.int_attribute("bits", 4);
    if (!are_covered(table.bits) || axis + 1 != data.shape.size())
      return unsupported(
          "packed data must have 2, 4 or 8 bits, and be quantised along the last dimension");
    if (__builtin_mul_overflow(table.shape.back(), 8 / table.bits, &table.shape.back()))
      return invalid_argument("its data are too large");
    table.zero = static_cast<float>(1 << (table.bits - 1));
  }
  if (table.block < 1) return invalid_argument("block_size must be positive");
  if (checked_product(table.shape).value_or(0) == 0)
    return invalid_argument("its data are empty or too large");
  for (size_t d = 0; d < table.shape.size(); ++d)
    (d < axis ? table.outer : d == axis ? table.size : table.inner) *= table.shape[d];
  table.blocks = ceil_div(table.size, table.block);
  return table;
}

float number_of(const Table& table, const graph::Value& value, int64_t index) {
  if (table.is_signed)
    return static_cast<float>(value.constant->as<int8_t>()[static_cast<size_t>(index)]);
  return static_cast<float>(integer_at(value.constant->as<uint8_t>(), index, table.bits));
}

// Returns the zero points, which are packed like the data. Those of a row of blocks fill whole
// bytes.
Result<std::vector<float>> zeros_of(NodeImport& node, const Table& table, size_t count) {
  if (!node.has(kTableZeros)) return std::vector<float>(count, table.zero);
  const graph::Value& value = node.value(kTableZeros);
  const int64_t row_bytes = ceil_div(table.blocks * table.bits, int64_t{8});
  const auto wanted = table.bits == 8 ? std::optional(static_cast<int64_t>(count))
                                      : checked_product(Dims{table.outer, row_bytes});
  MILLRACE_RETURN_IF_ERROR(check_count(node, kTableZeros, wanted));
  if (value.type != node.value(kData).type)
    return invalid_argument("its zero points must have the type of its data");
  std::vector<float> zeros;
  if (table.bits == 8) {
    for (size_t i = 0; i < count; ++i)
      zeros.push_back(number_of(table, value, static_cast<int64_t>(i)));
    return zeros;
  }
  for (int64_t row = 0; row < table.outer; ++row)
    for (int64_t block = 0; block < table.blocks; ++block)
      zeros.push_back(number_of(table, value, row * row_bytes * 8 / table.bits + block));
  return zeros;
}

// Returns the dequantised table, of shape `table.shape`.
Result<ValueId> widened(NodeImport& node, const Table& table) {
  const auto parameters = checked_product(Dims{table.outer, table.blocks, table.inner});
  MILLRACE_RETURN_IF_ERROR(check_count(node, kTableScales, parameters));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> scales, numbers_of(node, kTableScales));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> zeros, zeros_of(node, table, scales.size()));
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant constant, weights_of_shape(node, table.shape));
  const graph::Value& data = node.value(kData);
  const auto to = constant.as<float>();
  const int64_t matrix = table.size * table.inner;
  for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
    const int64_t block = i % matrix / table.inner / table.block;
    const auto parameter =
        static_cast<size_t>((i / matrix * table.blocks + block) * table.inner + i % table.inner);
    to[static_cast<size_t>(i)] = (number_of(table, data, i) - zeros[parameter]) * scales[parameter];
  }
  return node.add_computed(std::move(constant.value));
}

}  // namespace

// Inputs: x; weights; their scales; zero points; block of each row (g_idx); bias. The attribute
// accuracy_level is ignored: it only permits lower accuracy.
Result<ValueId> import_matmul_n_bits(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Blocks blocks, read_blocks(node));
  MILLRACE_RETURN_IF_ERROR(check_weights(node, blocks));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId y, keeps_packed(node, blocks)
                                                 ? packed_product(node, blocks)
                                                 : widened_product(node, blocks));
  return node.has(kBias) ? node.binary(BinaryKind::kAdd, y, node.operand(kBias)) : y;
}

// Inputs: x; weights; the largest magnitude of each block. The product is x W^T, or x W without
// transB.
Result<ValueId> import_matmul_bnb4(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const ValueId weights, widened_by_table(node));
  graph::MatMul product;
  product.transpose_b = node.int_attribute("transB", 1) != 0;
  return node.emit(product, {node.operand(0), weights});
}

// Inputs: data; indices; scales; zero points.
Result<ValueId> import_gather_block_quantized(NodeImport& node) {
  MILLRACE_RETURN_IF_ERROR(node.require_constant(kData));
  MILLRACE_ASSIGN_OR_RETURN(const Table table, read_table(node));
  MILLRACE_ASSIGN_OR_RETURN(
      const size_t axis, normalise_axis(node.int_attribute("gather_axis", 0), table.shape.size()));
  MILLRACE_ASSIGN_OR_RETURN(const ValueId numbers, widened(node, table));
  return node.emit(graph::Gather{static_cast<int64_t>(axis)}, {numbers, node.operand(kIndices)});
}

}  // namespace millrace::lowering
