#include "device/cpu/kernels/convolution/primitive_step.h"

#include <utility>
#include <vector>

#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/convolution/bands.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/convolution/result.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::kNoValue;
using graph::ValueId;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// One way to make the primitive.
struct Attempt {
  Form form;
  FusedFunctions fused;
};

class Lowering {
 public:
  Lowering(Builder& builder, const Node& node, const graph::Conv& op)
      : builder_(builder),
        node_(node),
        op_(op),
        convolution_(builder.model().graph, node, op, builder.type()),
        x_(node.input(0)),
        weight_(node.input(1)),
        bias_(node.input(2)),
        residual_(node.input(3)),
        slope_(node.input(4)) {}

  // Returns false if oneDNN has no primitive.
  Result<bool> lower() {
    if (!choose_primitive()) return false;
    MILLRACE_RETURN_IF_ERROR(add_step());
    return true;
  }

 private:
  Status add_step() {
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.in_layout(x_, primitive_.src_desc()));
    MILLRACE_ASSIGN_OR_RETURN(const Operand weights,
                              builder_.packed(weight_, primitive_.weights_desc()));
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weights}};
    if (bias_ != kNoValue) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand bias, builder_.packed(bias_, primitive_.bias_desc()));
      arguments.push_back({DNNL_ARG_BIAS, bias});
    }
    if (made_.prelu) {
      MILLRACE_ASSIGN_OR_RETURN(const Operand slope,
                                builder_.packed(slope_, slope_desc(convolution_)));
      arguments.push_back({prelu_argument(convolution_), slope});
    }
    MILLRACE_ASSIGN_OR_RETURN(const Operand y, make_result(builder_, node_, primitive_.dst_desc()));
    arguments.push_back({DNNL_ARG_DST, y});
    add_convolution(builder_, op_, {primitive_, unbounded_, residual_ != kNoValue},
                    std::move(arguments));
    return add_functions(builder_, node_, convolution_, made_, y);
  }

  // Tries the form of the plan first (in place of a form of the device's own, the usual form), then
  // the others, and last all of them with functions as separate steps.
  bool choose_primitive() {
    const FusedFunctions all{slope_ != kNoValue, can_fuse_activation(op_)};
    std::vector<Attempt> attempts;
    const Form form = is_own(builder_.form()) ? usual_form(builder_.type()) : builder_.form();
    for (const FusedFunctions& fused : {all, FusedFunctions{}})
      for (const Form each : {form, Form::kBlocked, Form::kLibrary})
        attempts.push_back({each, fused});
    const auto choice = choose(attempts, [&](const Attempt& attempt) { return make(attempt); });
    if (!choice) return false;
    primitive_ = choice->primitive;
    made_ = choice->option.fused;
    if (needs_unbounded(made_))
      unbounded_ = make_unbounded(convolution_, made_, primitive_, builder_.engine());
    return true;
  }

  bool needs_unbounded(const FusedFunctions& fused) const {
    return fused.activation && last_bounds(op_.activation).has_value();
  }

  // Returns an empty descriptor if the primitive would lose NaNs and no other step could keep them.
  PrimitiveDesc make(const Attempt& attempt) const {
    PrimitiveDesc made =
        make_convolution(convolution_, attempt.form, attempt.fused, builder_.engine());
    if (made.get(true) == nullptr || !needs_unbounded(attempt.fused)) return made;
    if (residual_ != kNoValue && !builder_.may_run_again()) return {};
    if (!keeps_padding(made.dst_desc(), *last_bounds(op_.activation))) return {};
    const PrimitiveDesc unbounded =
        make_unbounded(convolution_, attempt.fused, made, builder_.engine());
    return unbounded.get(true) == nullptr ? PrimitiveDesc() : made;
  }

  Builder& builder_;
  const Node& node_;
  const graph::Conv& op_;
  const Convolution convolution_;
  const ValueId x_, weight_, bias_, residual_, slope_;
  FusedFunctions made_;  // what the step of the convolution does
  PrimitiveDesc primitive_;
  std::optional<PrimitiveDesc> unbounded_;  // present if primitive_ loses NaNs
};

}  // namespace

Result<bool> lower_by_primitive(Builder& builder, const Node& node, const graph::Conv& op) {
  return Lowering(builder, node, op).lower();
}

}  // namespace millrace::device::cpu::kernels
