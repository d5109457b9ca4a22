// MatMulNBits of com.microsoft with weights of 4 bits: x [..., K] by a matrix of N columns, each of
// which is divided into blocks of `block_size` consecutive weights with a scale and a zero point of
// their own. A weight is (q - zero point) * scale.
//
// Operands: x; weights, UINT8 with the elements of [N, blocks, block_size / 2], two to a byte, the
// first in its lower bits; scales, of N * blocks elements; and optionally zero points, packed like
// the weights, where each column begins with a new byte. Without them they are 8.
#include <fmt/format.h>

#include "base/align.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "tensor/packed_integers.h"

namespace millrace::fallback {
namespace {

constexpr size_t kX = 0, kWeights = 1, kScales = 2, kZeros = 3;
constexpr size_t kWeightBits = 4;
constexpr size_t kMiddle = 8;  // the zero point of blocks that state none

struct Blocks {
  size_t depth, columns, size;

  size_t count() const { return ceil_div(depth, size); }
  size_t weight_bytes() const { return count() * size / 2; }  // of a column
  size_t zero_bytes() const { return (count() + 1) / 2; }     // likewise
};

Blocks blocks_of(const NodeView& node) {
  return {static_cast<size_t>(node.integer("K")), static_cast<size_t>(node.integer("N")),
          static_cast<size_t>(node.integer("block_size"))};
}

Status check_attributes(const Inference& node) {
  const int64_t size = node.integer("block_size");
  const auto in_range = [](int64_t number) { return number >= 1 && number <= graph::kMaxElements; };
  if (const int64_t bits = node.integer("bits", 4); bits != 4)
    return unsupported(fmt::format(
        "weights of {} bits are not supported; 4 bits are, and 2 and 8 bits of constants", bits));
  if (!in_range(node.integer("K")) || !in_range(node.integer("N")) || !in_range(size))
    return invalid_argument("its K, N or block_size is out of range");
  if (size % 2 != 0) return invalid_argument("its block_size must be even");
  return {};
}

Status check_operand(const Inference& node, size_t index, DataType type, size_t columns,
                     size_t elements_of_column) {
  const TensorView& operand = node.in(index);
  const size_t elements = operand.elements();
  if (operand.type == type && elements % columns == 0 && elements / columns == elements_of_column)
    return {};
  return invalid_argument(
      fmt::format("its input {} must be {} with {} elements for each of {} "
                  "columns",
                  index, tensor::to_string(type), elements_of_column, columns));
}

Status shape_of_product(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_attributes(node));
  const Blocks blocks = blocks_of(node);
  const TensorView& x = node.in(kX);
  if (x.rank() == 0 || static_cast<size_t>(x.dims.back()) != blocks.depth)
    return invalid_argument(
        fmt::format("the last dimension of its input must be K, {}", blocks.depth));
  MILLRACE_RETURN_IF_ERROR(
      check_operand(node, kWeights, DataType::kUint8, blocks.columns, blocks.weight_bytes()));
  MILLRACE_RETURN_IF_ERROR(check_operand(node, kScales, x.type, blocks.columns, blocks.count()));
  if (node.has(kZeros))
    MILLRACE_RETURN_IF_ERROR(
        check_operand(node, kZeros, DataType::kUint8, blocks.columns, blocks.zero_bytes()));
  Dims dims = to_dims(x.dims);
  dims.back() = node.integer("N");
  node.set(0, x.type, std::move(dims));
  return {};
}

// The dequantised weights of a column.
void dequantise(const Call& call, const Blocks& blocks, size_t column, std::span<double> to) {
  const auto weights = call.in(kWeights).as<uint8_t>().subspan(column * blocks.weight_bytes(),
                                                               blocks.weight_bytes());
  const auto scales = call.in(kScales).as<float>().subspan(column * blocks.count());
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t block = k / blocks.size;
    uint32_t zero = kMiddle;
    if (call.has(kZeros))
      zero = tensor::packed_integer(
          call.in(kZeros).as<uint8_t>().data() + column * blocks.zero_bytes(), block, kWeightBits);
    const double distance =
        static_cast<double>(tensor::packed_integer(weights.data(), k, kWeightBits)) - zero;
    to[k] = distance * static_cast<double>(scales[block]);
  }
}

Status product(const Call& call) {
  const Blocks blocks = blocks_of(call);
  const auto x = call.in(kX).as<float>();
  const auto y = call.out(0).as<float>();
  std::vector<double> weights(blocks.depth);
  for (size_t column = 0; column < blocks.columns; ++column) {
    dequantise(call, blocks, column, weights);
    for (size_t row = 0; row < x.size() / blocks.depth; ++row) {
      double sum = 0;
      for (size_t k = 0; k < blocks.depth; ++k)
        sum += weights[k] * static_cast<double>(x[row * blocks.depth + k]);
      y[row * blocks.columns + column] = static_cast<float>(sum);
    }
  }
  return {};
}

constexpr AttributeSpec kMatMulNBits[] = {{"K", AttributeKind::kInteger},
                                          {"N", AttributeKind::kInteger},
                                          {"bits", AttributeKind::kInteger},
                                          {"block_size", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> blocked_product_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.MatMulNBits",
       1,
       {3, 4},
       {},
       kFloats,
       shape_of_product,
       product,
       kMatMulNBits},
  };
  return kOperators;
}

}  // namespace millrace::fallback
