// MatMulNBits: a product with packed weights of 4 bits.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/four_bit_loops.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/steps/parts.h"
#include "tensor/packed_integers.h"

namespace millrace::device::cpu::accelerated {
namespace {

using graph::ValueId;

constexpr size_t kInput = 0, kPacked = 1, kBlockScales = 2, kBlockZeros = 3;

struct BlockedProduct {
  size_t rows, columns, depth, block;
  BufferId x, arranged, weights, scales;
  std::optional<BufferId> zeros;
  BufferId y;
};

class BlockedProductStep final : public Step {
 public:
  BlockedProductStep(const BlockedProduct& product, uint32_t parts)
      : product_(product), parts_(parts) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {product_.x, product_.arranged, product_.weights, product_.scales,
                                 product_.y};
    if (product_.zeros) ids.push_back(*product_.zeros);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    const FourBitMatrix matrix{state.input<uint8_t>(product_.weights),
                               state.input<float>(product_.scales),
                               product_.zeros ? state.input<float>(*product_.zeros) : nullptr,
                               product_.depth, product_.block};
    float* const rows = state.output<float>(product_.arranged);
    for (size_t row = 0; row < product_.rows; ++row)
      arrange_row(matrix, state.input<float>(product_.x) + row * product_.depth,
                  rows + row * arranged_size(matrix));
    run_parts(state, parts_, [&](uint32_t number) {
      const Share share = share_of(product_.columns, number, parts_);
      multiply(matrix, rows, product_.rows,
               {state.output<float>(product_.y), product_.columns, share.first, share.count});
    });
    return {};
  }

 private:
  const BlockedProduct product_;
  const uint32_t parts_;
};

// The scales with the padding that the loops want.
BufferId padded_scales(Builder& builder, ValueId id) {
  const size_t count = builder.value(id).elements();
  const auto arrange = [count](const float* from, std::byte* to) {
    auto* const scales = reinterpret_cast<float*>(to);
    std::fill_n(std::copy_n(from, count, scales), kFourBitPadding, 0.0f);
  };
  return builder.arranged(
      id, {"followed by padding", (count + kFourBitPadding) * sizeof(float), arrange});
}

// The zero points of all blocks, with the same padding, from packed numbers of 4 bits. Those of a
// column fill whole bytes.
BufferId unpacked_zeros(Builder& builder, std::span<const uint8_t> packed, size_t columns,
                        size_t blocks) {
  std::vector<float> zeros;
  zeros.reserve(columns * blocks + kFourBitPadding);
  const size_t bytes = packed.size() / columns;
  for (size_t column = 0; column < columns; ++column)
    for (size_t block = 0; block < blocks; ++block)
      zeros.push_back(
          static_cast<float>(tensor::packed_integer(packed.data() + column * bytes, block, 4)));
  zeros.resize(zeros.size() + kFourBitPadding);
  const Desc desc = plain_desc({static_cast<int64_t>(zeros.size())}, ElementType::f32);
  return builder.add_constant(desc, zeros).buffer;
}

}  // namespace

// Weights that a job computes, and blocks of other sizes than ONNX Runtime has, are not covered.
Result<bool> lower_blocked_product(Builder& builder, const AcceleratedNode& node) {
  const auto block = static_cast<size_t>(node.view.integer("block_size"));
  if (!std::has_single_bit(block) || block < kLeastFourBitBlock) return false;
  for (size_t i = kPacked; i < node.view.input_count(); ++i)
    if (node.view.has(i) && !builder.is_constant(node.input(i))) return false;
  BlockedProduct product{};
  product.block = block;
  product.depth = static_cast<size_t>(node.view.integer("K"));
  product.columns = static_cast<size_t>(node.view.integer("N"));
  product.rows = node.view.in(kInput).elements() / product.depth;
  MILLRACE_ASSIGN_OR_RETURN(const Operand x, plain_operand(builder, node.input(kInput)));
  MILLRACE_ASSIGN_OR_RETURN(const Operand weights, plain_operand(builder, node.input(kPacked)));
  product.x = x.buffer;
  product.weights = weights.buffer;
  product.scales = padded_scales(builder, node.input(kBlockScales));
  const FourBitMatrix matrix{nullptr, nullptr, nullptr, product.depth, block};
  if (node.view.has(kBlockZeros))
    product.zeros = unpacked_zeros(builder, node.view.in(kBlockZeros).as<uint8_t>(),
                                   product.columns, matrix.blocks());
  const auto arranged = static_cast<int64_t>(product.rows * arranged_size(matrix));
  product.arranged = builder.new_temporary(plain_desc({arranged}, ElementType::f32)).buffer;
  const ValueId id = node.node.outputs[0];
  const Operand y = plain_result(builder, id);
  product.y = y.buffer;
  builder.add(name_of(node.node.op), "millrace:vectors",
              std::make_unique<BlockedProductStep>(product, builder.chunks()));
  finish_result(builder, id, y);
  return true;
}

}  // namespace millrace::device::cpu::accelerated
