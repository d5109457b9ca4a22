#include "device/cpu/kernels/primitives.h"

#include <algorithm>

#include "base/process/topology.h"
#include "device/cpu/dnnl/defects.h"

namespace millrace::device::cpu::kernels {

using dnnl::algorithm;
using graph::UnaryKind;

dnnl::primitive_attr make_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

int channel_block() {
  return topology().features.avx512 ? 16 : 8;
}

std::vector<Desc> layouts_for(const Desc& now) {
  const Dims dims = now.dims();
  const ElementType type = now.data_type();
  std::vector<Desc> layouts;
  if (is_dense(now)) layouts.push_back(now);
  for (const Desc& other : {blocked_desc(dims, type, channel_block()), plain_desc(dims, type)})
    if (std::ranges::find(layouts, other) == layouts.end()) layouts.push_back(other);
  return layouts;
}

std::optional<Eltwise> eltwise_of(const graph::Activation& function) {
  switch (function.kind) {
    case UnaryKind::kRelu:
      return Eltwise{algorithm::eltwise_relu, 0, 0};
    case UnaryKind::kClip:
      return Eltwise{algorithm::eltwise_clip, function.alpha, function.beta};
    case UnaryKind::kLeakyRelu:
      // With a slope of 0 oneDNN computes a ReLU, which loses NaNs and gives 0 for -inf.
      if (function.alpha == 0 || !kFunctionsKeepSpecialValues) break;
      return Eltwise{algorithm::eltwise_relu, function.alpha, 0};
    case UnaryKind::kElu:
      return Eltwise{algorithm::eltwise_elu, function.alpha, 0};
    case UnaryKind::kSigmoid:
      if (!kFunctionsKeepSpecialValues) break;
      return Eltwise{algorithm::eltwise_logistic, 0, 0};
    case UnaryKind::kTanh:
      return Eltwise{algorithm::eltwise_tanh, 0, 0};
    case UnaryKind::kHardSwish:
      if (!kFunctionsKeepSpecialValues) break;
      return Eltwise{algorithm::eltwise_hardswish, 0, 0};
    case UnaryKind::kSwish:
      if (!kFunctionsKeepSpecialValues) break;
      return Eltwise{algorithm::eltwise_swish, 1, 0};
    case UnaryKind::kGelu:
      if (!kGeluHasItsLimits) break;
      return Eltwise{algorithm::eltwise_gelu_erf, 0, 0};
    case UnaryKind::kExp:
      return Eltwise{algorithm::eltwise_exp, 0, 0};
    case UnaryKind::kLog:
      return Eltwise{algorithm::eltwise_log, 0, 0};
    case UnaryKind::kSqrt:
      return Eltwise{algorithm::eltwise_sqrt, 0, 0};
    case UnaryKind::kAbs:
      return Eltwise{algorithm::eltwise_abs, 0, 0};
    case UnaryKind::kPow:
      return Eltwise{algorithm::eltwise_pow, 1, function.alpha};
    case UnaryKind::kLinear:
      return Eltwise{algorithm::eltwise_linear, function.alpha, function.beta};
    case UnaryKind::kNeg:
      return Eltwise{algorithm::eltwise_linear, -1, -0.0f};  // 0 would turn -0 into 0
    case UnaryKind::kReciprocal:
      return Eltwise{algorithm::eltwise_pow, 1, -1};
    case UnaryKind::kIdentity:
    case UnaryKind::kHardSigmoid:
    case UnaryKind::kErf:
    case UnaryKind::kRound:
    case UnaryKind::kFloor:
    case UnaryKind::kCeil:
    case UnaryKind::kSoftplus:
      break;
  }
  return std::nullopt;
}

std::optional<Bounds> last_bounds(const graph::Activation& function) {
  if (function.kind == UnaryKind::kIdentity) return std::nullopt;
  if (function.kind == UnaryKind::kHardSigmoid) return Bounds{0, 1};
  return clamp_bounds(function);
}

void append_before_bounds(dnnl::post_ops& post_ops, const graph::Activation& function) {
  if (function.kind == UnaryKind::kHardSigmoid)
    append_eltwise(post_ops, {algorithm::eltwise_linear, function.alpha, function.beta});
}

bool append_activation(dnnl::post_ops& post_ops, const graph::Activation& function) {
  if (function.kind == UnaryKind::kIdentity) return true;
  if (function.kind == UnaryKind::kHardSigmoid) {
    append_before_bounds(post_ops, function);
    append_eltwise(post_ops, {algorithm::eltwise_clip, 0, 1});
    return true;
  }
  const auto eltwise = eltwise_of(function);
  if (!eltwise) return false;
  append_eltwise(post_ops, *eltwise);
  return true;
}

}  // namespace millrace::device::cpu::kernels
