// Pool and GlobalPool on integers: oneDNN computes maxima if the result has the quantisation of the
// operand; the device's own loop computes means with any quantisation.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "device/cpu/builder/byte_conversion.h"
#include "device/cpu/kernels/pooling/window_plan.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/loops.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "device/cpu/kernels/quantised/post_ops.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

using graph::PoolKind;
using graph::ValueId;
using tensor::ElementRule;

Result<bool> add_library_maxima(Builder& builder, const Node& node, const graph::Pool& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  if (!same_quantisation(builder, x, y)) return false;
  const auto primitive = find_primitive<PoolingPrimitive>(
      builder.engine(), make_attributes(), dnnl::prop_kind::forward_inference,
      dnnl::algorithm::pooling_max, channels_last_desc(builder.dims(x), builder.stored_type(x)),
      channels_last_desc(builder.dims(y), builder.stored_type(y)), op.strides, op.kernel,
      gaps_of(op.dilations), op.pads_begin, op.pads_end);
  if (!is_fast(primitive)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.stored_in(x, primitive.src_desc()));
  const Operand to = builder.new_stored_result(y, primitive.dst_desc());
  builder.add_primitive("Pool", primitive, PoolingPrimitive(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return true;
}

// The rounding of a mean to bytes. Elements are in the scale `from`, the mean in the scale `to`.
struct MeanRules {
  bool is_signed;  // the bytes that are added up
  ElementRule from, to;
  ByteConversion to_bytes;

  // The factor for the sum of `count` elements, in steps. Elements beside them are zeros.
  float factor(int64_t count) const {
    return static_cast<float>(from.scale / (double{to.scale} * static_cast<double>(count)));
  }
};

// Computes the mean of each channel over windows of images with channels innermost.
class MeanStep final : public Step {
 public:
  struct Buffers {
    BufferId from, sums, means, to;  // `sums` and `means`: 32 bits for each channel
  };

  MeanStep(size_t images, size_t channels, WindowPlan plan, const MeanRules& rules,
           const Buffers& buffers)
      : images_(images),
        channels_(channels),
        plan_(std::move(plan)),
        rules_(rules),
        in_steps_{1, rules.to.zero_point},
        buffers_(buffers) {}
  std::vector<BufferId> buffers() const override {
    return {buffers_.from, buffers_.sums, buffers_.means, buffers_.to};
  }
  Status run(const RunState& state) const noexcept override {
    const auto* image = state.input<std::byte>(buffers_.from);
    auto* to = state.output<std::byte>(buffers_.to);
    const auto& [depth, height, width] = plan_;
    const auto pixels = static_cast<size_t>(depth.size * height.size * width.size);
    for (size_t i = 0; i < images_; ++i, image += pixels * channels_)
      for (const Taps& z : depth.positions)
        for (const Taps& y : height.positions)
          for (const Taps& x : width.positions) {
            store_means(state, image, {z, y, x}, to);
            to += channels_;
          }
    return {};
  }

 private:
  using Window = std::array<Taps, 3>;

  void add_up(const std::byte* image, const Window& window, int32_t* sums) const {
    const auto& [z, y, x] = window;
    const auto& [depth, height, width] = plan_;
    for (int64_t k = 0; k < z.count; ++k)
      for (int64_t j = 0; j < y.count; ++j) {
        const int64_t plane = (z.first + k * depth.step) * height.size;
        const int64_t row = (plane + y.first + j * height.step) * width.size;
        add_rows(image + static_cast<size_t>(row + x.first) * channels_,
                 static_cast<size_t>(x.count), static_cast<size_t>(width.step) * channels_,
                 channels_, rules_.is_signed, sums);
      }
  }

  void store_means(const RunState& state, const std::byte* image, const Window& window,
                   std::byte* to) const {
    auto* sums = state.output<int32_t>(buffers_.sums);
    auto* means = state.output<float>(buffers_.means);
    std::fill_n(sums, channels_, 0);
    add_up(image, window, sums);
    const auto& [z, y, x] = window;
    const int64_t zeros = z.count * y.count * x.count * rules_.from.zero_point;
    // A window in the padding has no element that counts.
    const float factor = rules_.factor(std::max<int64_t>(z.counted * y.counted * x.counted, 1));
    for (size_t i = 0; i < channels_; ++i)
      means[i] = static_cast<float>(sums[i] - static_cast<int32_t>(zeros)) * factor;
    rules_.to_bytes.quantise(means, to, channels_, in_steps_);
  }

  const size_t images_, channels_;
  const WindowPlan plan_;
  const MeanRules rules_;
  const ElementRule in_steps_;
  const Buffers buffers_;
};

Result<bool> add_means(Builder& builder, const char* operation, ValueId x, ValueId y,
                       const graph::Pool& op) {
  const auto from_rule = rule_of(builder, x), to_rule = rule_of(builder, y);
  const Dims dims = builder.dims(x);
  // The sum of this many bytes less their zero points is below 2^31.
  constexpr double kMostTaps = 1 << 22;
  const double taps = std::accumulate(op.kernel.begin(), op.kernel.end(), 1.0, std::multiplies<>());
  if (!from_rule || !to_rule || dims.size() < 3 || taps > kMostTaps) return false;
  const MeanRules rules{builder.stored_type(x) == ElementType::s8, *from_rule, *to_rule,
                        ByteConversion(builder.value(y).type)};
  if (!std::isnormal(rules.factor(1)) || !std::isnormal(rules.factor(static_cast<int64_t>(taps))))
    return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from,
                            builder.stored_in(x, channels_last_desc(dims, builder.stored_type(x))));
  const Desc row = plain_desc({dims[1]}, ElementType::f32);
  const Operand sums = builder.new_temporary(row), means = builder.new_temporary(row);
  const Operand to =
      builder.new_stored_result(y, channels_last_desc(builder.dims(y), builder.stored_type(y)));
  const MeanStep::Buffers buffers{from.buffer, sums.buffer, means.buffer, to.buffer};
  builder.add(operation, "millrace:mean",
              std::make_unique<MeanStep>(static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1]),
                                         window_plan(op, dims, builder.dims(y)), rules, buffers));
  return true;
}

// Returns the window of a GlobalPool.
graph::Pool whole_image(PoolKind kind, const Dims& dims) {
  const Dims kernel(dims.begin() + 2, dims.end()), zeros(kernel.size(), 0), ones(kernel.size(), 1);
  return {kind, kernel, ones, ones, zeros, zeros, zeros, false};
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Pool& op) {
  if (op.kind == PoolKind::kMax) return add_library_maxima(builder, node, op);
  return add_means(builder, "Pool", node.input(0), node.outputs[0], op);
}

Result<bool> lower(Builder& builder, const Node& node, const graph::GlobalPool& op) {
  const graph::Pool pool = whole_image(op.kind, builder.dims(node.input(0)));
  if (op.kind == PoolKind::kMax) return add_library_maxima(builder, node, pool);
  return add_means(builder, "GlobalPool", node.input(0), node.outputs[0], pool);
}

}  // namespace millrace::device::cpu::kernels::quantised
