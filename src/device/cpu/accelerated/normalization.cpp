// Normalisations: of the last dimensions by oneDNN, of channels and groups of channels by
// vector loops.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/vector_loops.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/primitives.h"
#include "fallback/axis.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::AxisSplit;
using graph::kNoValue;
using graph::ValueId;
using PrimitiveDesc = dnnl::layer_normalization_forward::primitive_desc;

// x as a matrix with what is normalised in its rows, in FP32: oneDNN's kernel for BF16 is many
// times slower (oneDNN 2.6), as are kernels that run behind it.
class LayerNorm {
 public:
  LayerNorm(Builder& builder, const AcceleratedNode& node, const Dims& matrix)
      : builder_(builder),
        matrix_(plain_desc(matrix, ElementType::f32)),
        parameter_(plain_desc({matrix[1]}, ElementType::f32)),
        epsilon_(node.view.real("epsilon", 1e-5f)),
        x_(node.input(0)),
        scale_(node.input(1)),
        bias_(node.input(2)),
        y_(node.node.outputs[0]) {}

  Result<bool> lower() {
    const PrimitiveDesc primitive = make_primitive();
    if (!primitive || is_reference(primitive.impl_info_str())) return false;
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, plain_operand(builder_, x_));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, {x.buffer, matrix_}}};
    MILLRACE_RETURN_IF_ERROR(add_parameter(scale_, DNNL_ARG_SCALE, arguments));
    if (bias_ != kNoValue)
      MILLRACE_RETURN_IF_ERROR(add_parameter(bias_, DNNL_ARG_SHIFT, arguments));
    const Operand y = plain_result(builder_, y_);
    arguments.push_back({DNNL_ARG_DST, {y.buffer, matrix_}});
    builder_.add_primitive("LayerNormalization", primitive,
                           dnnl::layer_normalization_forward(primitive), std::move(arguments));
    finish_result(builder_, y_, y);
    return true;
  }

 private:
  PrimitiveDesc make_primitive() const {
    auto flags = dnnl::normalization_flags::use_scale;
    if (bias_ != kNoValue) flags |= dnnl::normalization_flags::use_shift;
    return find_layer_normalization(builder_.engine(), kernels::make_attributes(), matrix_,
                                    epsilon_, flags);
  }

  Status add_parameter(ValueId id, int argument, std::vector<Argument>& arguments) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand parameter, plain_operand(builder_, id));
    arguments.push_back({argument, {parameter.buffer, parameter_}});
    return {};
  }

  Builder& builder_;
  const Desc matrix_, parameter_;
  const float epsilon_;
  const ValueId x_, scale_, bias_, y_;
};

// Runs of `size` elements, each normalised on its own, in `parts` equal stretches of which each has
// a scale and a bias: of a channel.
struct Groups {
  size_t count, parts, part_size;
  size_t channels;  // of all groups of an image

  size_t size() const { return parts * part_size; }
};

class GroupNormStep final : public Step {
 public:
  GroupNormStep(const Groups& groups, float epsilon, BufferId x, BufferId scale, BufferId bias,
                BufferId y)
      : groups_(groups), epsilon_(epsilon), x_(x), scale_(scale), bias_(bias), y_(y) {}
  std::vector<BufferId> buffers() const override { return {x_, scale_, bias_, y_}; }
  Status run(const RunState& state) const noexcept override {
    const float* x = state.input<float>(x_);
    float* y = state.output<float>(y_);
    for (size_t group = 0; group < groups_.count; ++group) {
      const size_t channel = group * groups_.parts % groups_.channels;
      run_group(x + group * groups_.size(), y + group * groups_.size(),
                state.input<float>(scale_) + channel, state.input<float>(bias_) + channel);
    }
    return {};
  }

 private:
  void run_group(const float* x, float* y, const float* scale, const float* bias) const noexcept {
    const Moments moments = moments_of({x, groups_.size()});
    const double inverse = 1 / std::sqrt(moments.variance + epsilon_);
    // The part of the mean that FP32 cannot hold goes into the shift.
    const auto centre = static_cast<float>(moments.mean);
    for (size_t part = 0; part < groups_.parts; ++part) {
      const double factor = inverse * scale[part];
      const double shift = bias[part] - (moments.mean - centre) * factor;
      const size_t at = part * groups_.part_size;
      apply({centre, static_cast<float>(factor), static_cast<float>(shift)},
            {x + at, groups_.part_size}, y + at);
    }
  }

  const Groups groups_;
  const float epsilon_;
  const BufferId x_, scale_, bias_, y_;
};

Result<bool> lower_groups(Builder& builder, const AcceleratedNode& node, size_t groups_per_image) {
  const auto& x = node.view.in(0);
  const AxisSplit split(x.dims, 1);
  const size_t parts = split.size / groups_per_image;
  const Groups groups{split.outer * groups_per_image, parts, split.inner, split.size};
  std::vector<BufferId> operands;
  for (size_t i = 0; i < 3; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand operand, plain_operand(builder, node.input(i)));
    operands.push_back(operand.buffer);
  }
  const ValueId id = node.node.outputs[0];
  const Operand y = plain_result(builder, id);
  builder.add(name_of(node.node.op), "millrace:vectors",
              std::make_unique<GroupNormStep>(groups, node.view.real("epsilon", 1e-5f), operands[0],
                                              operands[1], operands[2], y.buffer));
  finish_result(builder, id, y);
  return true;
}

}  // namespace

Result<bool> lower_layer_norm(Builder& builder, const AcceleratedNode& node) {
  const auto& x = node.view.in(0);
  if (node.node.outputs.size() > 1) return false;
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            graph::normalise_axis(node.view.integer("axis", -1), x.rank()));
  const size_t size = fallback::element_count(x.dims.subspan(axis));
  for (size_t i = 1; i < node.view.input_count(); ++i)
    if (node.view.has(i) && node.view.in(i).elements() != size) return false;
  return LayerNorm(builder, node,
                   {static_cast<int64_t>(x.elements() / size), static_cast<int64_t>(size)})
      .lower();
}

Result<bool> lower_instance_norm(Builder& builder, const AcceleratedNode& node) {
  return lower_groups(builder, node, static_cast<size_t>(node.view.in(0).dims[1]));
}

// Scales and biases that several channels share, as before operator set 21, are not covered.
Result<bool> lower_group_norm(Builder& builder, const AcceleratedNode& node) {
  const auto channels = static_cast<size_t>(node.view.in(0).dims[1]);
  if (node.view.in(1).elements() != channels) return false;
  return lower_groups(builder, node, static_cast<size_t>(node.view.integer("num_groups")));
}

}  // namespace millrace::device::cpu::accelerated
