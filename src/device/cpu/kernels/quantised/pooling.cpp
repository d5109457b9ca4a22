// Pool and GlobalPool on integers: the library's pooling where the result has the form of the
// operand; averages over whole images in any form.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "device/cpu/byte_conversion.h"
#include "device/cpu/kernels/pooling.h"
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

Result<bool> add_library_pooling(Builder& builder, const Node& node, const Window& window) {
  const ValueId x = node.input(0), y = node.outputs[0];
  if (!same_form(builder, x, y)) return false;
  const dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, window.algorithm,
                                            channels_last(builder.dims(x), builder.stored_type(x)),
                                            channels_last(builder.dims(y), builder.stored_type(y)),
                                            window.strides, window.kernel, window.dilations,
                                            window.pads_begin, window.pads_end);
  const dnnl::pooling_v2_forward::primitive_desc primitive(desc, make_attributes(),
                                                           builder.engine(), /*allow_empty=*/true);
  if (!is_fast(primitive)) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.stored_in(x, primitive.src_desc()));
  const Operand to = builder.new_stored_result(y, primitive.dst_desc());
  builder.add_primitive("Pool", primitive, dnnl::pooling_v2_forward(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return true;
}

// Images of bytes, channels last.
struct Images {
  size_t count, pixels, channels;
};

// The mean of each channel of each image.
class MeanStep final : public Step {
 public:
  // `sums` and `means` have room for one 32-bit number per channel.
  MeanStep(const Images& images, bool is_signed, const ElementRule& from_rule,
           const ByteConversion& to_bytes, const ElementRule& to_rule,
           const std::array<BufferId, 4>& buffers)
      : images_(images),
        is_signed_(is_signed),
        from_rule_(from_rule),
        to_bytes_(to_bytes),
        to_rule_(to_rule),
        buffers_(buffers) {}
  std::vector<BufferId> buffers() const override { return {buffers_.begin(), buffers_.end()}; }
  Status run(const RunState& state) const noexcept override {
    const auto [from_id, sums_id, means_id, to_id] = buffers_;
    const auto* from = state.input<std::byte>(from_id);
    auto* to = state.output<std::byte>(to_id);
    auto* sums = state.output<int32_t>(sums_id);
    auto* means = state.output<float>(means_id);
    const auto [count, pixels, channels] = images_;
    const float scale = from_rule_.scale / static_cast<float>(pixels);
    const auto zero = static_cast<int32_t>(pixels) * from_rule_.zero_point;
    for (size_t image = 0; image < count; ++image) {
      sum_columns(from + image * pixels * channels, pixels, channels, is_signed_, sums);
      for (size_t i = 0; i < channels; ++i) means[i] = static_cast<float>(sums[i] - zero) * scale;
      to_bytes_.quantise(means, to + image * channels, channels, to_rule_);
    }
    return {};
  }

 private:
  const Images images_;
  const bool is_signed_;
  const ElementRule from_rule_;
  const ByteConversion to_bytes_;
  const ElementRule to_rule_;
  const std::array<BufferId, 4> buffers_;
};

Result<bool> add_mean(Builder& builder, ValueId x, ValueId y) {
  const auto from_rule = rule_of(builder, x), to_rule = rule_of(builder, y);
  const auto to_bytes = conversion_of(builder.value(y).type);
  const Dims dims = builder.dims(x);
  const int64_t pixels =
      std::accumulate(dims.begin() + 2, dims.end(), int64_t{1}, std::multiplies<>());
  // So many bytes add up to less than 2^31.
  constexpr int64_t kMostPixels = int64_t{1} << 22;
  if (!from_rule || !to_rule || !to_bytes || dims.size() < 3 || pixels > kMostPixels) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from,
                            builder.stored_in(x, channels_last(dims, builder.stored_type(x))));
  const Desc row = plain_desc({dims[1]}, ElementType::f32);
  const Operand sums = builder.new_temporary(row), means = builder.new_temporary(row);
  const Operand to =
      builder.new_stored_result(y, channels_last(builder.dims(y), builder.stored_type(y)));
  const Images images{static_cast<size_t>(dims[0]), static_cast<size_t>(pixels),
                      static_cast<size_t>(dims[1])};
  builder.add("GlobalPool", "millrace:mean",
              std::make_unique<MeanStep>(
                  images, builder.stored_type(x) == ElementType::s8, *from_rule, *to_bytes,
                  *to_rule, std::array{from.buffer, sums.buffer, means.buffer, to.buffer}));
  return true;
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node, const graph::Pool& op) {
  const auto is_positive = [](int64_t pad) { return pad > 0; };
  const bool is_padded = std::ranges::any_of(op.pads_begin, is_positive) ||
                         std::ranges::any_of(op.pads_end, is_positive);
  // Padding that counts is zero, and not the zero point.
  if (op.kind == PoolKind::kAverage && op.count_include_pad && is_padded) return false;
  Window window{op.kind == PoolKind::kMax ? dnnl::algorithm::pooling_max
                                          : dnnl::algorithm::pooling_avg_exclude_padding,
                op.kernel,
                op.strides,
                op.dilations,
                op.pads_begin,
                op.pads_end};
  // The library counts the gap between the taps, ONNX the distance.
  for (int64_t& dilation : window.dilations) --dilation;
  return add_library_pooling(builder, node, window);
}

Result<bool> lower(Builder& builder, const Node& node, const graph::GlobalPool& op) {
  const ValueId x = node.input(0);
  if (op.kind == PoolKind::kAverage) return add_mean(builder, x, node.outputs[0]);
  const Dims dims = builder.dims(x), kernel(dims.begin() + 2, dims.end());
  const Dims zeros(kernel.size(), 0), ones(kernel.size(), 1);
  return add_library_pooling(builder, node,
                             {dnnl::algorithm::pooling_max, kernel, ones, zeros, zeros, zeros});
}

}  // namespace millrace::device::cpu::kernels::quantised
