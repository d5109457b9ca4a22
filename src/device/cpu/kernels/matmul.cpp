// MatMul: inner products with constant weights, those of one row in FP32 by loops of the
// device's own; batched products of two values otherwise.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/dnnl/product.h"
#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/elementwise/binary.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/row_product/row_product.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::kNoValue;
using graph::ValueId;

class Lowering {
 public:
  Lowering(Builder& builder, const Node& node, const graph::MatMul& op)
      : builder_(builder),
        op_(op),
        a_(node.input(0)),
        b_(node.input(1)),
        bias_(node.input(2)),
        y_(node.outputs[0]) {}

  Status lower() {
    const bool is_layer =
        builder_.is_constant(b_) && builder_.dims(b_).size() == 2 && !op_.transpose_a;
    MILLRACE_ASSIGN_OR_RETURN(const Operand product, is_layer ? add_layer() : add_product());
    return finish(product);
  }

 private:
  // Fuses what the primitive can compute into its attributes. The rest is left to finish().
  dnnl::primitive_attr take_attributes() {
    dnnl::primitive_attr attributes = make_attributes();
    dnnl::post_ops post_ops;
    if (op_.alpha != 1) append_eltwise(post_ops, {dnnl::algorithm::eltwise_linear, op_.alpha, 0});
    // oneDNN's exponential loses NaNs.
    activation_done_ = (bias_ == kNoValue || bias_done_) &&
                       op_.activation.kind != graph::UnaryKind::kExp &&
                       append_activation(post_ops, op_.activation);
    attributes.set_post_ops(post_ops);
    return attributes;
  }

  // Returns the same attributes except for the bounds that are the last part of the activation.
  dnnl::primitive_attr attributes_without_bounds() const {
    dnnl::post_ops post_ops;
    if (op_.alpha != 1) append_eltwise(post_ops, {dnnl::algorithm::eltwise_linear, op_.alpha, 0});
    append_before_bounds(post_ops, op_.activation);
    dnnl::primitive_attr attributes = make_attributes();
    attributes.set_post_ops(post_ops);
    return attributes;
  }

  // Returns a function for choose_primitive that finds the implementation of `made`.
  template <class PrimitiveDesc>
  static auto same_as(const PrimitiveDesc& made) {
    return [name = std::string(made.impl_info_str())](PrimitiveDesc desc) {
      return implementation_named(std::move(desc), name);
    };
  }

  // Adds the step of `made`, whose last argument is the result. `make_again` makes the primitive
  // with other attributes.
  template <class Primitive, class MakeAgain>
  Status add_step(const typename Primitive::primitive_desc& made, std::vector<Argument> arguments,
                  MakeAgain make_again) {
    const auto bounds = last_bounds(op_.activation);
    if (!activation_done_ || !bounds) {
      builder_.add_primitive("MatMul", made, Primitive(made), std::move(arguments));
      return {};
    }
    const Operand result = arguments.back().operand;
    const auto unbounded = make_again(attributes_without_bounds());
    if (unbounded.get(true) == nullptr)
      return unsupported("oneDNN has no matrix product of these shapes that keeps NaN");
    auto fast = primitive_step<Primitive>(builder_, made, arguments);
    auto unbounded_step =
        primitive_step<Primitive>(builder_, unbounded, std::move(arguments), fast.get());
    auto careful = bounded_step(builder_, std::move(unbounded_step), result, *bounds);
    add_careful_step(builder_, "MatMul", made.impl_info_str(), std::move(fast), std::move(careful));
    return {};
  }

  // Whether the bias is one that oneDNN adds: an entry per column, and before alpha is applied.
  bool is_column_bias(int64_t columns) const {
    if (bias_ == kNoValue || op_.alpha != 1) return false;
    const Dims dims = builder_.dims(bias_);
    return dims.back() == columns &&
           std::all_of(dims.begin(), dims.end() - 1, [](int64_t dim) { return dim == 1; });
  }

  // Adds the product of a [..., K] and a constant [K, N], as an inner product with packed weights.
  Result<Operand> add_layer() {
    const Dims b = builder_.dims(b_);
    const int64_t k = op_.transpose_b ? b[1] : b[0], n = op_.transpose_b ? b[0] : b[1];
    const Dims a = builder_.dims(a_);
    const int64_t m = std::accumulate(a.begin(), a.end() - 1, int64_t{1}, std::multiplies<>());
    const ElementType type = builder_.type();
    bias_done_ = is_column_bias(n);
    const Desc bias = bias_done_ ? plain_desc({n}, ElementType::f32) : Desc();
    const Desc x = plain_desc({m, k}, type), y = plain_desc({m, n}, type);
    const auto primitive = make_primitive<dnnl::inner_product_forward>(
        builder_.engine(), take_attributes(), dnnl::prop_kind::forward_inference, x,
        any_desc({n, k}, type), bias, y);
    MILLRACE_ASSIGN_OR_RETURN(const Operand plain_a, builder_.plain(a_));
    const std::vector<uint32_t> stored =
        op_.transpose_b ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{1, 0};
    MILLRACE_ASSIGN_OR_RETURN(const Operand weights,
                              builder_.packed(b_, primitive.weights_desc(), stored));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, {plain_a.buffer, x}},
                                       {DNNL_ARG_WEIGHTS, weights}};
    std::optional<Operand> plain_bias;
    if (bias_done_) {
      MILLRACE_ASSIGN_OR_RETURN(plain_bias, builder_.packed(bias_, bias));
      arguments.push_back({DNNL_ARG_BIAS, *plain_bias});
    }
    if (m == 1 && op_.alpha == 1 && (bias_ == kNoValue || bias_done_) && panel_size(weights.desc))
      return add_row({{plain_a.buffer, x}, weights, plain_bias});
    const Operand result = builder_.new_temporary(builder_.plain_layout(y_));
    arguments.push_back({DNNL_ARG_DST, {result.buffer, y}});
    MILLRACE_RETURN_IF_ERROR(add_step<dnnl::inner_product_forward>(
        primitive, std::move(arguments), [&](const dnnl::primitive_attr& attributes) {
          return choose_primitive<dnnl::inner_product_forward>(
              builder_.engine(), attributes, same_as(primitive), dnnl::prop_kind::forward_inference,
              x, primitive.weights_desc(), bias, y);
        }));
    return result;
  }

  // An activation is a step of its own.
  Operand add_row(const RowOperands& operands) {
    activation_done_ = op_.activation.kind == graph::UnaryKind::kIdentity;
    const Operand result = builder_.new_temporary(builder_.plain_layout(y_));
    add_row_product(builder_, operands, result);
    return result;
  }

  // An operand of the product, with the rank of the product: its present layout, and those to try.
  struct Factor {
    ValueId id;
    Dims shape;                 // of the value, with ones added
    Dims permutation;           // swaps the last two dimensions if the operand is transposed
    std::vector<Desc> layouts;  // in terms of the product
  };

  Result<Factor> make_factor(ValueId id, bool transpose, bool is_row, size_t rank) {
    Dims shape = builder_.dims(id);
    if (builder_.value(id).shape.size() == 1)
      shape = is_row ? Dims{1, shape[0]} : Dims{shape[0], 1};
    Factor factor{id, with_rank(shape, rank), Dims(rank), {}};
    std::iota(factor.permutation.begin(), factor.permutation.end(), 0);
    if (transpose) std::swap(factor.permutation[rank - 1], factor.permutation[rank - 2]);
    MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder_.current(id));
    const auto seen = reshaped(now.desc, factor.shape);
    if (seen && start_of(from_first_element(*seen)) == 0)
      factor.layouts.push_back(permuted(*seen, factor.permutation));
    const Desc plain = permuted(plain_desc(factor.shape, builder_.type()), factor.permutation);
    if (factor.layouts.empty() || !(factor.layouts[0] == plain)) factor.layouts.push_back(plain);
    return factor;
  }

  // Returns the operand in one of its layouts.
  Result<Operand> fetch(const Factor& factor, const Desc& layout) {
    MILLRACE_ASSIGN_OR_RETURN(Operand location, builder_.current(factor.id));
    const bool as_it_lies = layout == factor.layouts.front() && factor.layouts.size() > 1;
    if (!as_it_lies) {
      MILLRACE_ASSIGN_OR_RETURN(location, builder_.plain(factor.id));
    }
    location.desc = layout;
    return location;
  }

  // The layouts of the operands of a product.
  struct Layouts {
    Desc a, b;
  };

  static std::vector<Layouts> pairs_of(const std::vector<Desc>& a, const std::vector<Desc>& b) {
    std::vector<Layouts> pairs;
    for (const Desc& left : a)
      for (const Desc& right : b) pairs.push_back({left, right});
    return pairs;
  }

  Result<Operand> add_product() {
    const size_t rank = std::max({builder_.dims(a_).size(), builder_.dims(b_).size(), size_t{2}});
    MILLRACE_ASSIGN_OR_RETURN(const Factor a, make_factor(a_, op_.transpose_a, true, rank));
    MILLRACE_ASSIGN_OR_RETURN(const Factor b, make_factor(b_, op_.transpose_b, false, rank));
    const Dims a_dims = a.layouts.front().dims(), b_dims = b.layouts.front().dims();
    Dims dims(rank);
    for (size_t i = 0; i + 2 < rank; ++i) dims[i] = std::max(a_dims[i], b_dims[i]);
    dims[rank - 2] = a_dims[rank - 2];
    dims[rank - 1] = b_dims[rank - 1];
    const Desc y = plain_desc(dims, builder_.type());
    const dnnl::primitive_attr attributes = take_attributes();
    const auto chosen = choose(pairs_of(a.layouts, b.layouts), [&](const Layouts& layouts) {
      return find_product(builder_.engine(), attributes, {layouts.a, layouts.b, {}, y});
    });
    if (!chosen) return unsupported("oneDNN has no matrix product of these shapes");
    const auto& primitive = chosen->primitive;
    // The primitive's own descriptors do not say where a view begins.
    MILLRACE_ASSIGN_OR_RETURN(const Operand left, fetch(a, chosen->option.a));
    MILLRACE_ASSIGN_OR_RETURN(const Operand right, fetch(b, chosen->option.b));
    const Operand result = builder_.new_temporary(builder_.plain_layout(y_));
    MILLRACE_RETURN_IF_ERROR(add_step<dnnl::matmul>(
        primitive,
        {{DNNL_ARG_SRC, left}, {DNNL_ARG_WEIGHTS, right}, {DNNL_ARG_DST, {result.buffer, y}}},
        [&](const dnnl::primitive_attr& without_bounds) {
          return choose_product(builder_.engine(), without_bounds, same_as(primitive),
                                {chosen->option.a, chosen->option.b, {}, y});
        }));
    return result;
  }

  // Adds what the primitive left out and hands the result on.
  Status finish(const Operand& product) {
    const Operand y{product.buffer, builder_.plain_layout(y_)};
    if (bias_ != kNoValue && !bias_done_) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.plain(bias_));
      MILLRACE_RETURN_IF_ERROR(add_plain_binary(builder_, graph::BinaryKind::kAdd, y,
                                                builder_.dims(y_), bias, builder_.dims(bias_), y,
                                                builder_.dims(y_)));
    }
    if (!activation_done_ && op_.activation.kind != graph::UnaryKind::kIdentity)
      MILLRACE_RETURN_IF_ERROR(add_unary(builder_, op_.activation, y, y));
    builder_.set_result(y_, y);
    return {};
  }

  Builder& builder_;
  const graph::MatMul& op_;
  const ValueId a_, b_, bias_, y_;
  bool bias_done_ = false, activation_done_ = false;
};

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::MatMul& op) {
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels
