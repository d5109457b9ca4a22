// The step, divided by rows of the result. Each part has scratch memory for the rows under its row.
#include "device/cpu/kernels/few_channels/few_channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "device/cpu/kernels/bounds.h"
#include "device/cpu/kernels/few_channels/loops.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/tiles.h"
#include "device/cpu/steps/parts.h"

namespace millrace::device::cpu::kernels::few_channels {
namespace {

using graph::kNoValue;

// The operands of a Conv.
constexpr size_t kX = 0, kWeight = 1, kBias = 2, kResidual = 3, kSlope = 4;

bool is_constant(const Builder& builder, graph::ValueId id) {
  return id == kNoValue || builder.is_constant(id);
}

bool can_compute(const Builder& builder, const Node& node, const graph::Conv& op) {
  const Dims x = builder.dims(node.input(kX)), y = builder.dims(node.outputs[0]);
  if (builder.type() != ElementType::bf16 || x.size() != 4 || x[0] != 1 || op.group != 1 ||
      builder.is_empty(node.input(kX)) || builder.is_empty(node.outputs[0]))
    return false;
  const Dims weight = builder.dims(node.input(kWeight));
  const auto is_one = [](int64_t number) { return number == 1; };
  return x[1] <= int64_t{kRoom} && weight[2] * weight[3] > 1 && weight[2] <= int64_t{kMostTapsY} &&
         weight[3] <= int64_t{kMostTapsX} && y[3] >= int64_t{kWindows} &&
         std::ranges::all_of(op.dilations, is_one) && node.input(kResidual) == kNoValue &&
         node.input(kSlope) == kNoValue && clamp_bounds(op.activation) &&
         builder.is_constant(node.input(kWeight)) && is_constant(builder, node.input(kBias)) &&
         may_use_tiles();
}

Geometry geometry_of(const Dims& x, const Dims& weight, const Dims& y, const graph::Conv& op) {
  return {.channels = from_dim(x[1]),
          .height = from_dim(x[2]),
          .width = from_dim(x[3]),
          .channels_out = from_dim(y[1]),
          .out_height = from_dim(y[2]),
          .out_width = from_dim(y[3]),
          .taps_y = from_dim(weight[2]),
          .taps_x = from_dim(weight[3]),
          .stride_y = from_dim(op.strides[0]),
          .stride_x = from_dim(op.strides[1]),
          .above = from_dim(op.pads_begin[0]),
          .left = from_dim(op.pads_begin[1])};
}

struct Buffers {
  BufferId x, y, filters, scratch;
  std::optional<BufferId> bias;
};

class FewChannelsStep final : public Step {
 public:
  FewChannelsStep(const Geometry& geometry, const Bounds& bounds, const Buffers& buffers,
                  uint32_t parts)
      : geometry_(geometry), bounds_(bounds), buffers_(buffers), parts_(parts) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> all = {buffers_.x, buffers_.y, buffers_.filters, buffers_.scratch};
    if (buffers_.bias) all.push_back(*buffers_.bias);
    return all;
  }

  Status run(const RunState& state) const noexcept override {
    const Work all{.image = state.input<uint16_t>(buffers_.x),
                   .filters = state.input<uint16_t>(buffers_.filters),
                   .bias = buffers_.bias ? state.input<float>(*buffers_.bias) : nullptr,
                   .least = bounds_.least,
                   .most = bounds_.most,
                   .result = state.output<uint16_t>(buffers_.y),
                   .scratch = state.output<uint16_t>(buffers_.scratch),
                   .first_row = 0,
                   .rows = geometry_.out_height};
    run_parts(state, parts_, [&, this](uint32_t number) {
      const Share rows = share_of(all.rows, number, parts_);
      Work work = all;
      work.scratch += number * geometry_.scratch_elements();
      work.first_row = rows.first;
      work.rows = rows.count;
      few_channels::run(geometry_, work);
    });
    return {};
  }

 private:
  const Geometry geometry_;
  const Bounds bounds_;
  const Buffers buffers_;
  const uint32_t parts_;
};

Arrangement filters_of(const Geometry& g) {
  return {
      fmt::format("few channels: {}, {}x{} to {}", g.channels, g.taps_y, g.taps_x, g.channels_out),
      g.all_filter_elements() * sizeof(uint16_t), [g](const float* from, std::byte* to) {
        arrange_filters(g, from, reinterpret_cast<uint16_t*>(to));
      }};
}

// Adds zeros for the channels that the last block has room for.
Arrangement bias_of(const Geometry& g) {
  const size_t room = g.blocks() * kBlock;
  return {fmt::format("bias of {} in blocks", g.channels_out), room * sizeof(float),
          [g, room](const float* from, std::byte* to) {
            auto* const bias = reinterpret_cast<float*>(to);
            std::fill_n(std::copy_n(from, g.channels_out, bias), room - g.channels_out, 0.0F);
          }};
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Conv& op) {
  if (!is_innermost(builder.form()) || !can_compute(builder, node, op)) return false;
  const Dims dims = builder.dims(node.input(kX)), y = builder.dims(node.outputs[0]);
  const Geometry geometry = geometry_of(dims, builder.dims(node.input(kWeight)), y, op);
  MILLRACE_ASSIGN_OR_RETURN(
      const Operand x,
      builder.in_layout(node.input(kX), hcwnc_desc(dims, ElementType::bf16, kRoom)));
  const uint32_t parts = std::min<uint32_t>(
      parts_with_scratch(builder.chunks(), geometry.scratch_elements() * sizeof(uint16_t)),
      static_cast<uint32_t>(geometry.out_height));
  const auto scratch = static_cast<int64_t>(geometry.scratch_elements() * parts);
  Buffers buffers{};
  buffers.x = x.buffer;
  buffers.filters = builder.arranged(node.input(kWeight), filters_of(geometry));
  if (node.input(kBias) != kNoValue)
    buffers.bias = builder.arranged(node.input(kBias), bias_of(geometry));
  buffers.scratch = builder.new_temporary(plain_desc({scratch}, ElementType::bf16)).buffer;
  buffers.y = builder.new_result(node.outputs[0], channels_last_desc(y, ElementType::bf16)).buffer;
  builder.add(
      "Conv", "millrace:few-channels",
      std::make_unique<FewChannelsStep>(geometry, *clamp_bounds(op.activation), buffers, parts));
  return true;
}

}  // namespace millrace::device::cpu::kernels::few_channels
