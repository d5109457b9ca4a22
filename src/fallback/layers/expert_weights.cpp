#include "fallback/layers/expert_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/align.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "tensor/packed_integers.h"

namespace millrace::fallback {
namespace {

using tensor::packed_bytes;
using tensor::packed_integer;

Dims dims_of(std::initializer_list<size_t> sizes) {
  Dims dims;
  for (const size_t size : sizes) dims.push_back(static_cast<int64_t>(size));
  return dims;
}

Status check_operand(const NodeView& node, size_t index, DataType type, const Dims& wanted) {
  const TensorView& operand = node.in(index);
  if (operand.type == type && to_dims(operand.dims) == wanted) return {};
  return invalid_argument(fmt::format("its input {} must be {} {}, and is {} {}", index,
                                      tensor::to_string(type), graph::to_string(wanted),
                                      tensor::to_string(operand.type),
                                      graph::to_string(to_dims(operand.dims))));
}

// Dequantises integers of less than a byte by a table with a number for each of them.
template <size_t kBits>
void dequantise_packed(const uint8_t* bytes, float zero, float scale, std::span<float> to) {
  constexpr size_t kPerByte = 8 / kBits, kMask = (size_t{1} << kBits) - 1;
  std::array<float, kMask + 1> table;
  for (size_t q = 0; q <= kMask; ++q) table[q] = (static_cast<float>(q) - zero) * scale;
  size_t i = 0;
  for (; i + kPerByte <= to.size(); i += kPerByte, ++bytes)
    for (size_t j = 0; j < kPerByte; ++j) to[i + j] = table[*bytes >> (j * kBits) & kMask];
  for (size_t j = 0; i < to.size(); ++i, ++j) to[i] = table[*bytes >> (j * kBits) & kMask];
}

void dequantise_bytes(const uint8_t* bytes, float zero, float scale, std::span<float> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = (static_cast<float>(bytes[i]) - zero) * scale;
}

}  // namespace

Result<DenseWeights> DenseWeights::of(const NodeView& node, size_t weights,
                                      const ExpertShape& shape) {
  MILLRACE_RETURN_IF_ERROR(check_operand(node, weights, DataType::kFloat32,
                                         dims_of({shape.experts, shape.rows, shape.columns})));
  DenseWeights made;
  made.weights_ = node.in(weights).as<float>().data();
  made.shape_ = shape;
  return made;
}

Result<PackedWeights> PackedWeights::of(const NodeView& node, const Places& places,
                                        const ExpertShape& shape) {
  PackedWeights made;
  made.shape_ = shape;
  const int64_t bits = node.integer("expert_weight_bits", 4), block = node.integer("block_size");
  if (bits != 2 && bits != 4 && bits != 8)
    return unsupported(
        fmt::format("weights of {} bits are not supported; 2, 4 and 8 bits are", bits));
  if (block < 0 || block % (8 / bits) != 0)
    return invalid_argument("block_size must be positive, and fill whole bytes");
  made.bits_ = static_cast<size_t>(bits);
  made.dequantise_ = bits == 2   ? dequantise_packed<2>
                     : bits == 4 ? dequantise_packed<4>
                                 : dequantise_bytes;
  made.has_blocks_ = block > 0;
  made.block_ = made.has_blocks_ ? static_cast<size_t>(block) : shape.columns;
  made.blocks_ = made.has_blocks_ ? ceil_div(shape.columns, made.block_) : 1;
  const auto [experts, rows, columns] = shape;
  MILLRACE_RETURN_IF_ERROR(
      check_operand(node, places.weights, DataType::kUint8,
                    dims_of({experts, rows, packed_bytes(columns, made.bits_)})));
  if (!node.has(places.scales))
    return invalid_argument(
        fmt::format("its input {}, a list of scales, is missing", places.scales));
  MILLRACE_RETURN_IF_ERROR(check_operand(
      node, places.scales, DataType::kFloat32,
      made.has_blocks_ ? dims_of({experts, rows, made.blocks_}) : dims_of({experts, rows})));
  made.weights_ = node.in(places.weights).as<uint8_t>().data();
  made.scales_ = node.in(places.scales).as<float>().data();
  if (node.has(places.zeros)) {
    MILLRACE_RETURN_IF_ERROR(check_operand(
        node, places.zeros, DataType::kUint8,
        made.has_blocks_ ? dims_of({experts, rows, packed_bytes(made.blocks_, made.bits_)})
                         : dims_of({experts, packed_bytes(rows, made.bits_)})));
    made.zeros_ = node.in(places.zeros).as<uint8_t>().data();
  }
  made.buffer_.resize(columns);
  return made;
}

float PackedWeights::scale_of(size_t row, size_t block) const {
  return scales_[row * blocks_ + block];
}

// Zero points of whole rows are packed along the rows, those of blocks along the blocks of a row.
float PackedWeights::zero_of(size_t expert, size_t index, size_t block) const {
  if (zeros_ == nullptr) return static_cast<float>(1u << (bits_ - 1));
  const size_t row = expert * shape_.rows + index;
  const uint32_t zero =
      has_blocks_
          ? packed_integer(zeros_ + row * packed_bytes(blocks_, bits_), block, bits_)
          : packed_integer(zeros_ + expert * packed_bytes(shape_.rows, bits_), index, bits_);
  return static_cast<float>(zero);
}

const float* PackedWeights::row(size_t expert, size_t index) {
  const size_t row = expert * shape_.rows + index;
  const uint8_t* const bytes = weights_ + row * packed_bytes(shape_.columns, bits_);
  for (size_t block = 0; block < blocks_; ++block) {
    const size_t begin = block * block_, size = std::min(block_, shape_.columns - begin);
    dequantise_(bytes + begin * bits_ / 8, zero_of(expert, index, block), scale_of(row, block),
                std::span(buffer_).subspan(begin, size));
  }
  return buffer_.data();
}

}  // namespace millrace::fallback
