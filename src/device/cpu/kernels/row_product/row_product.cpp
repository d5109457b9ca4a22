#include "device/cpu/kernels/row_product/row_product.h"

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
  BufferId row, weights;
  std::optional<BufferId> bias;
  BufferId to;
};

struct RowProductShape {
  size_t depth, columns, panel_size;
};

class RowProductStep final : public Step {
 public:
  RowProductStep(const RowProductShape& shape, const RowProductBuffers& buffers, uint32_t parts)
      : shape_(shape), buffers_(buffers), parts_(parts) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {buffers_.row, buffers_.weights, buffers_.to};
    if (buffers_.bias) ids.push_back(*buffers_.bias);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    const RowProduct product{.row = state.input<float>(buffers_.row),
                             .weights = state.input<float>(buffers_.weights),
                             .depth = shape_.depth,
                             .columns = shape_.columns,
                             .panel_size = shape_.panel_size,
                             .bias = buffers_.bias ? state.input<float>(*buffers_.bias) : nullptr};
    run_parts(state, parts_, [&](uint32_t number) {
      const Share share = share_of(panels_of(shape_.columns), number, parts_);
      multiply_row(product, share.first, share.count, state.output<float>(buffers_.to));
    });
    return {};
  }

 private:
  const RowProductShape shape_;
  const RowProductBuffers buffers_;
  const uint32_t parts_;
};

}  // namespace

std::optional<size_t> panel_size(const Desc& weights) {
  const auto layout = layout_of(weights);
  if (!layout || layout->rank != 2 || layout->offset != 0 || weights.get_size() < kLeastBytes ||
      weights.data_type() != ElementType::f32)
    return std::nullopt;
  // Blocks of some elements of the row, and of the columns of a panel.
  const auto blocks = layout->blocks();
  constexpr auto kColumns = static_cast<int64_t>(kPanelColumns);
  if (blocks.size() != 2 || blocks[0].dim != 1 || blocks[1].dim != 0 || blocks[1].size != kColumns)
    return std::nullopt;
  const int64_t elements = layout->padded_dims[1] * kColumns;
  if (layout->strides[1] != blocks[0].size * kColumns || layout->strides[0] != elements)
    return std::nullopt;
  return static_cast<size_t>(elements);
}

void add_row_product(Builder& builder, const RowOperands& operands, const Operand& to) {
  const Dims dims = operands.weights.desc.dims();
  const RowProductShape shape{from_dim(dims[1]), from_dim(dims[0]),
                              *panel_size(operands.weights.desc)};
  RowProductBuffers buffers{operands.row.buffer, operands.weights.buffer, std::nullopt, to.buffer};
  if (operands.bias) buffers.bias = operands.bias->buffer;
  builder.add("MatMul", "millrace:vectors",
              std::make_unique<RowProductStep>(shape, buffers, builder.chunks()));
}

}  // namespace millrace::device::cpu::kernels
