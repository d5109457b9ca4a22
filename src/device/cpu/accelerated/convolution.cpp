// Transposed convolutions, by oneDNN's deconvolution.
#include <optional>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/primitives.h"
#include "fallback/convolution.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::TransposedExtents;
using graph::kNoValue;
using graph::ValueId;
using PrimitiveDesc = dnnl::deconvolution_forward::primitive_desc;

// One way to make the primitive.
struct Attempt {
  ElementType type;
  bool blocked = false;  // channels in blocks; else oneDNN chooses the layouts
};

class ConvTranspose {
 public:
  ConvTranspose(Builder& builder, const AcceleratedNode& node, TransposedExtents extents)
      : builder_(builder),
        extents_(std::move(extents)),
        x_(node.input(0)),
        weight_(node.input(1)),
        bias_(node.input(2)),
        y_(node.node.outputs[0]) {}

  Result<bool> lower() {
    const auto choice = choose_primitive();
    if (!choice) return false;
    const PrimitiveDesc& primitive = choice->primitive;
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, operand_as(builder_, x_, primitive.src_desc()));
    MILLRACE_ASSIGN_OR_RETURN(const Operand weights,
                              builder_.packed(weight_, primitive.weights_desc(), weight_order()));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}};
    if (bias_ != kNoValue) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(bias_, bias_desc()));
      arguments.push_back({DNNL_ARG_BIAS, bias});
    }
    const Operand y = result_as(builder_, y_, primitive.dst_desc());
    arguments.push_back({DNNL_ARG_DST, y});
    builder_.add_primitive("ConvTranspose", primitive, dnnl::deconvolution_forward(primitive),
                           std::move(arguments));
    finish_result(builder_, y_, y);
    return true;
  }

 private:
  // [M, C, kernel...], with the groups split off where there are any.
  Dims weight_dims() const {
    Dims dims = extents_.window.kernel;
    dims.insert(dims.begin(),
                {static_cast<int64_t>(extents_.outputs), static_cast<int64_t>(extents_.inputs)});
    if (extents_.groups > 1) dims.insert(dims.begin(), static_cast<int64_t>(extents_.groups));
    return dims;
  }

  // The standard has the channels of the input first.
  std::vector<uint32_t> weight_order() const {
    std::vector<uint32_t> order(weight_dims().size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const size_t outputs = extents_.groups > 1 ? 1 : 0;
    std::swap(order[outputs], order[outputs + 1]);
    return order;
  }

  Desc bias_desc() const {
    if (bias_ == kNoValue) return {};
    return plain_desc(builder_.dims(bias_), ElementType::f32);
  }

  Desc image_desc(ValueId id, const Attempt& attempt) const {
    const Dims dims = builder_.dims(id);
    if (!attempt.blocked) return any_desc(dims, attempt.type);
    return blocked_desc(dims, attempt.type, kernels::channel_block());
  }

  // Whether oneDNN, which asks for paddings at both ends that are not negative and counts
  // positions as a convolution over the output would, can be told of this window.
  bool is_expressible() const {
    const auto& window = extents_.window;
    const Dims input = builder_.dims(x_);
    for (size_t d = 0; d < window.rank(); ++d) {
      const int64_t room =
          extents_.output[d] - window.extent(d) + window.pads_begin[d] + window.pads_end[d];
      if (room < 0 || room / window.strides[d] + 1 != input[d + 2]) return false;
    }
    return true;
  }

  PrimitiveDesc make_primitive(const Attempt& attempt) const {
    const auto& window = extents_.window;
    return find_primitive<dnnl::deconvolution_forward>(
        builder_.engine(), kernels::make_attributes(), dnnl::prop_kind::forward_inference,
        dnnl::algorithm::deconvolution_direct, image_desc(x_, attempt),
        any_desc(weight_dims(), attempt.type), bias_desc(), image_desc(y_, attempt), window.strides,
        gaps_of(window.dilations), window.pads_begin, window.pads_end);
  }

  // In FP32 where there is no fast kernel for the type of the partition.
  std::optional<kernels::Choice<PrimitiveDesc, Attempt>> choose_primitive() const {
    if (!is_expressible()) return std::nullopt;
    const ElementType type = builder_.type();
    auto choice = kernels::choose(
        std::vector<Attempt>{
            {type, true}, {type, false}, {ElementType::f32, true}, {ElementType::f32, false}},
        [this](const Attempt& attempt) { return make_primitive(attempt); });
    if (choice && is_reference(choice->primitive.impl_info_str())) return std::nullopt;
    return choice;
  }

  Builder& builder_;
  const TransposedExtents extents_;
  const ValueId x_, weight_, bias_, y_;
};

}  // namespace

Result<bool> lower_conv_transpose(Builder& builder, const AcceleratedNode& node) {
  constexpr size_t kMostSpatialDimensions = 3;
  MILLRACE_ASSIGN_OR_RETURN(TransposedExtents extents, fallback::transposed_extents(node.view));
  if (extents.window.rank() > kMostSpatialDimensions) return false;
  return ConvTranspose(builder, node, std::move(extents)).lower();
}

}  // namespace millrace::device::cpu::accelerated
