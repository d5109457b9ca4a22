// Functions of one operand that oneDNN computes.
#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/dnnl/defects.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::accelerated {

// com.microsoft's has no approximation.
Result<bool> lower_gelu(Builder& builder, const AcceleratedNode& node) {
  const bool by_tanh = node.view.text("approximate", "none") == "tanh";
  if (!by_tanh && !kGeluHasItsLimits) {
    MILLRACE_RETURN_IF_ERROR(kernels::lower_function(builder, node.input(0), node.node.outputs[0],
                                                     {graph::UnaryKind::kGelu, 0, 0}));
    return true;
  }
  return kernels::lower_eltwise(
      builder, node.node,
      {by_tanh ? dnnl::algorithm::eltwise_gelu_tanh : dnnl::algorithm::eltwise_gelu_erf, 0, 0});
}

// x * sigmoid(alpha * x)
Result<bool> lower_quick_gelu(Builder& builder, const AcceleratedNode& node) {
  if (!kFunctionsKeepSpecialValues) return false;
  return kernels::lower_eltwise(
      builder, node.node, {dnnl::algorithm::eltwise_swish, node.view.real("alpha", 1.702f), 0});
}

}  // namespace millrace::device::cpu::accelerated
