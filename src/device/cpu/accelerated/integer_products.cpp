// Convolutions and matrix products of bytes, as one primitive: oneDNN's convolution of UINT8
// by INT8, with channels last. A matrix product is a convolution of one row of pixels by a kernel
// of one tap.
//
// The primitive multiplies what the bytes say; zero points come in afterwards, in integers:
//
//   sum (x - x0) (w - w0) = sum x w - w0 sum x - x0 sum w + n x0 w0
//
// INT8 operands are shifted to UINT8, which is another zero point; the sum of w is known when the
// weights are packed. The sum of x is one more output channel, whose weights are all 1, and needed
// only where w - w0 does not fit into INT8. Padding counts as the zero point of x, so the image is
// copied into a frame of it. Where all oneDNN has is a kernel whose sums are not exact,
// windows are copied, too, each into a row of a matrix. So the results are those of the plain
// kernel bit by bit.
#include "device/cpu/accelerated/integer_products.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/accelerated/integer_product_plan.h"
#include "device/cpu/accelerated/integer_product_steps.h"
#include "device/cpu/builder/operands.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/parameters.h"

namespace millrace::device::cpu::accelerated {
namespace {

using fallback::NodeView;
using fallback::TensorView;
using graph::ValueId;
using integer_product::kBias;
using integer_product::kScale;
using integer_product::kX;
using integer_product::kXZero;
using integer_product::Plan;
using integer_product::shift_of;
using tensor::DataType;

class IntegerProduct {
 public:
  IntegerProduct(Builder& builder, const AcceleratedNode& node, Plan plan)
      : builder_(builder),
        node_(node),
        plan_(std::move(plan)),
        x_(node.input(kX)),
        y_(node.node.outputs[0]),
        x_type_(node.view.in(kX).type) {}

  Status lower() {
    MILLRACE_ASSIGN_OR_RETURN(zero_, buffer_of(kXZero));
    MILLRACE_ASSIGN_OR_RETURN(const BufferId image, fetch_image());
    const Desc packed = plan_.primitive.weights_desc();
    const Operand weights = builder_.add_constant(
        plan_.weights.elements.data(), plain_desc(packed.dims(), ElementType::s8), packed);
    const Operand y = result_as(builder_, y_, result_desc());
    const Desc sums_desc = plan_.primitive.dst_desc();
    // In place where every sum becomes one element.
    const bool in_place = is_float() && plan_.weights.zeros.empty();
    const Operand sums =
        in_place ? Operand{y.buffer, sums_desc} : builder_.new_temporary(sums_desc);
    builder_.add_primitive(graph::name_of(node_.node.op), plan_.primitive,
                           dnnl::convolution_forward(plan_.primitive),
                           {{DNNL_ARG_SRC, {image, plan_.primitive.src_desc()}},
                            {DNNL_ARG_WEIGHTS, weights},
                            {DNNL_ARG_DST, sums}});
    MILLRACE_RETURN_IF_ERROR(add_completion(sums, y));
    finish_result(builder_, y_, y);
    return {};
  }

 private:
  bool is_float() const { return builder_.value(y_).type == DataType::kFloat32; }
  bool is_per_channel(size_t index) const {
    return node_.view.has(index) && node_.view.in(index).elements() > 1;
  }

  Result<std::optional<BufferId>> buffer_of(size_t index) {
    if (!node_.view.has(index)) return std::optional<BufferId>();
    MILLRACE_ASSIGN_OR_RETURN(const Operand operand, plain_operand(builder_, node_.input(index)));
    return std::optional(operand.buffer);
  }

  Desc result_desc() const {
    if (!is_float()) return builder_.plain_layout(y_);
    const Dims dims = builder_.dims(y_);
    return plan_.shape.is_matrix ? plain_desc(dims, ElementType::f32)
                                 : channels_last_desc(dims, ElementType::f32);
  }

  // The image as the primitive reads it.
  Result<BufferId> fetch_image() {
    MILLRACE_ASSIGN_OR_RETURN(const BufferId framed, fetch_framed());
    if (!plan_.is_unfolded) return framed;
    const Operand matrix = builder_.new_temporary(plan_.primitive.src_desc());
    builder_.add("Unfold", "millrace:vectors",
                 make_unfold_step(plan_.shape, framed, matrix.buffer));
    return matrix.buffer;
  }

  Result<BufferId> fetch_framed() {
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.current(x_));
    const bool is_last =
        plan_.shape.is_matrix || x.desc == channels_last_desc(builder_.dims(x_), ElementType::u8);
    if (is_last && !plan_.shape.is_padded() && shift_of(x_type_) == 0) return x.buffer;
    const Operand framed =
        builder_.new_temporary(plain_desc(image_dims(plan_.shape), ElementType::u8));
    builder_.add("Frame", "millrace:vectors",
                 make_frame_step(plan_.shape, is_last, x_type_, {x.buffer, framed.buffer, zero_}));
    return framed.buffer;
  }

  Status add_completion(const Operand& sums, const Operand& y) {
    const Desc column = plain_desc({plan_.shape.output_channels()}, ElementType::s32);
    using Made = integer_product::Completion::Made;
    integer_product::Completion completion{.made = is_float() ? Made::kFloats
                                                   : plan_.shape.is_matrix
                                                       ? Made::kIntegers
                                                       : Made::kTransposedIntegers,
                                           .sums = sums.buffer,
                                           .to = y.buffer,
                                           .offsets = builder_.new_temporary(column).buffer,
                                           .scales = builder_.new_temporary(column).buffer,
                                           .biases = builder_.new_temporary(column).buffer,
                                           .zero = zero_,
                                           .scale = {},
                                           .bias = {},
                                           .scale_per_channel = is_per_channel(kScale),
                                           .bias_per_channel = is_per_channel(kBias)};
    MILLRACE_ASSIGN_OR_RETURN(completion.scale, buffer_of(kScale));
    MILLRACE_ASSIGN_OR_RETURN(completion.bias, buffer_of(kBias));
    builder_.add(graph::name_of(node_.node.op), "millrace:vectors",
                 make_complete_step(plan_, x_type_, completion));
    return {};
  }

  Builder& builder_;
  const AcceleratedNode& node_;
  const Plan plan_;
  const ValueId x_, y_;
  const DataType x_type_;
  std::optional<BufferId> zero_;
};

}  // namespace

Result<bool> lower_integer_product(Builder& builder, const AcceleratedNode& node) {
  auto plan = integer_product::make_plan(builder, node);
  if (!plan) return false;
  MILLRACE_RETURN_IF_ERROR(IntegerProduct(builder, node, *std::move(plan)).lower());
  return true;
}

std::optional<Desc> layout_of_readers(const Builder& builder, ValueId id) {
  if (builder.is_output(id) || builder.readers(id).empty()) return std::nullopt;
  for (const uint32_t reader : builder.readers(id)) {
    if (!builder.comes_later(reader)) return std::nullopt;  // another partition copies plain bytes
    const graph::Graph& graph = builder.model().graph;
    const graph::Node& node = graph.nodes[reader];
    if (find_lowering(graph, node) != lower_integer_product) return std::nullopt;
    const std::vector<TensorView> operands = operand_views(builder, node);
    const NodeView view(std::get<graph::Fallback>(node.op), operands);
    const auto plan = integer_product::make_plan(builder, {node, view});
    const bool reads_once = std::ranges::count(node.inputs, id) == 1 && node.input(kX) == id;
    if (!plan || plan->shape.is_matrix || !reads_once) return std::nullopt;
  }
  return channels_last_desc(builder.dims(id), ElementType::u8);
}

}  // namespace millrace::device::cpu::accelerated
