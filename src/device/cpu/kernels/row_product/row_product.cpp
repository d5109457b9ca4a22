#include "device/cpu/kernels/row_product/row_product.h"

#include <array>
#include <memory>
#include <vector>

#include "device/cpu/dnnl/layout.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/row_product/loops.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels {
namespace {

// Weights that fit into the L1 or L2 cache are read fast by oneDNN's products, too, which compute
// an activation on the way.
constexpr size_t kLeastBytes = size_t{128} << 10;

struct RowProductBuffers {
  BufferId row;
  std::optional<BufferId> widened;  // the row in FP32, if it is not
  BufferId weights;
  std::optional<BufferId> bias;
  BufferId to;

  std::vector<BufferId> all() const {
    std::vector<BufferId> ids = {row, weights, to};
    if (widened) ids.push_back(*widened);
    if (bias) ids.push_back(*bias);
    return ids;
  }
};

struct RowProductShape {
  size_t depth, columns, panel_size;
};

template <class Number, class Result>
class RowProductStep final : public Step {
 public:
  RowProductStep(const RowProductShape& shape, const RowProductBuffers& buffers, uint32_t parts)
      : shape_(shape), buffers_(buffers), parts_(parts) {}

  std::vector<BufferId> buffers() const override { return buffers_.all(); }

  Status run(const RunState& state) const noexcept override {
    const RowProduct<Number> product{
        .row = row(state),
        .weights = state.input<Number>(buffers_.weights),
        .depth = shape_.depth,
        .columns = shape_.columns,
        .panel_size = shape_.panel_size,
        .bias = buffers_.bias ? state.input<float>(*buffers_.bias) : nullptr};
    run_parts(state, parts_, [&](uint32_t number) {
      const Share share = share_of(panels_of(shape_.columns), number, parts_);
      multiply_row(product, share.first, share.count, state.output<Result>(buffers_.to));
    });
    return {};
  }

 private:
  const float* row(const RunState& state) const noexcept {
    if (!buffers_.widened) return state.input<float>(buffers_.row);
    float* const widened = state.output<float>(*buffers_.widened);
    widen_row(state.input<uint16_t>(buffers_.row), shape_.depth, widened);
    return widened;
  }

  const RowProductShape shape_;
  const RowProductBuffers buffers_;
  const uint32_t parts_;
};

}  // namespace

std::optional<size_t> panel_size(const Desc& weights) {
  const auto layout = layout_of(weights);
  if (!layout || layout->rank != 2 || layout->offset != 0 || weights.get_size() < kLeastBytes)
    return std::nullopt;
  const bool is_bf16 = weights.data_type() == ElementType::bf16;
  if (!is_bf16 && weights.data_type() != ElementType::f32) return std::nullopt;
  // Blocks of some elements of the row, of the columns of a panel, and in BF16 of two elements.
  const auto blocks = layout->blocks();
  if (blocks.size() != (is_bf16 ? 3 : 2) || blocks[0].dim != 1 || blocks[1].dim != 0 ||
      blocks[1].size != static_cast<int64_t>(kPanelColumns))
    return std::nullopt;
  if (is_bf16 && (blocks[2].dim != 1 || blocks[2].size != 2)) return std::nullopt;
  const int64_t block = blocks[0].size * blocks[1].size * (is_bf16 ? 2 : 1);
  const int64_t elements = layout->padded_dims[1] * blocks[1].size;
  if (layout->strides[1] != block || layout->strides[0] != elements) return std::nullopt;
  return static_cast<size_t>(elements);
}

void add_row_product(Builder& builder, const RowOperands& operands, const Operand& to) {
  const Desc& weights = operands.weights.desc;
  const Dims dims = weights.dims();
  const RowProductShape shape{from_dim(dims[1]), from_dim(dims[0]), *panel_size(weights)};
  RowProductBuffers buffers{operands.row.buffer, std::nullopt, operands.weights.buffer,
                            std::nullopt, to.buffer};
  if (operands.bias) buffers.bias = operands.bias->buffer;
  const bool is_bf16 = weights.data_type() == ElementType::bf16;
  if (is_bf16) {
    const Desc widened = plain_desc({dims[1] + dims[1] % 2}, ElementType::f32);
    buffers.widened = builder.new_temporary(widened).buffer;
  }
  const uint32_t parts = builder.chunks();
  std::unique_ptr<const Step> step;
  if (!is_bf16)
    step = std::make_unique<RowProductStep<float, float>>(shape, buffers, parts);
  else if (to.desc.data_type() == ElementType::bf16)
    step = std::make_unique<RowProductStep<uint16_t, uint16_t>>(shape, buffers, parts);
  else
    step = std::make_unique<RowProductStep<uint16_t, float>>(shape, buffers, parts);
  builder.add("MatMul", "millrace:vectors", std::move(step));
}

}  // namespace millrace::device::cpu::kernels
