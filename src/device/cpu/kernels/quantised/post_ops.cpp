#include "device/cpu/kernels/quantised/post_ops.h"

#include <algorithm>
#include <cmath>

#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/parameters.h"

namespace millrace::device::cpu::kernels::quantised {

using graph::Activation;
using graph::UnaryKind;

std::optional<ResultRule> result_of(const Builder& builder, graph::ValueId id) {
  if (!builder.is_quantised(id)) {
    const bool stays_fp32 = builder.type() == ElementType::f32;
    return stays_fp32 ? std::optional(ResultRule{}) : std::nullopt;
  }
  const auto rule = rule_of(builder, id);
  if (!rule || !std::isnormal(1 / rule->scale)) return std::nullopt;
  return ResultRule{builder.stored_type(id), *rule};
}

bool can_scale(const std::vector<float>& sum_scales, float scale, const std::vector<float>& bias) {
  const auto is_usable = [scale](float sum_scale) {
    return std::isnormal(sum_scale) && std::isnormal(sum_scale / scale);
  };
  const auto is_finite = [](float entry) { return std::isfinite(entry); };
  return std::ranges::all_of(sum_scales, is_usable) && std::ranges::all_of(bias, is_finite);
}

Operand new_result(Builder& builder, graph::ValueId id, const Desc& desc) {
  return builder.is_quantised(id) ? builder.new_stored_result(id, desc)
                                  : builder.new_result(id, desc);
}

void add_constants(Builder& builder, const IntegerAttributes& attributes,
                   std::vector<Argument>& arguments) {
  for (const IntegerAttributes::Constant& constant : attributes.constants())
    arguments.push_back({constant.argument, builder.add_constant(constant.elements.data(),
                                                                 constant.desc, constant.desc)});
}

bool can_append(const Activation& function) {
  dnnl::post_ops unused;
  return kernels::append_activation(unused, function);
}

namespace {

// Whether f(s * x) is s * f(x) for s > 0, once bounds are scaled, too.
bool keeps_multiples(UnaryKind kind) {
  return kind == UnaryKind::kIdentity || kind == UnaryKind::kRelu ||
         kind == UnaryKind::kLeakyRelu || kind == UnaryKind::kClip;
}

}  // namespace

float scale_before(const Activation& function, const ResultRule& result) {
  return keeps_multiples(function.kind) ? result.rule.scale : 1;
}

void append_activation(dnnl::post_ops& post_ops, const Activation& function,
                       const ResultRule& result) {
  const float scale = result.rule.scale;
  if (keeps_multiples(function.kind)) {
    Activation scaled = function;
    if (function.kind == UnaryKind::kClip) {
      scaled.alpha /= scale;
      scaled.beta /= scale;
    }
    kernels::append_activation(post_ops, scaled);
    return;
  }
  kernels::append_activation(post_ops, function);
  if (scale != 1) append_eltwise(post_ops, {dnnl::algorithm::eltwise_linear, 1 / scale, 0});
}

void append_rounding(dnnl::post_ops& post_ops, const ResultRule& result) {
  if (result.rule.zero_point != 0) append_eltwise(post_ops, {dnnl::algorithm::eltwise_round, 0, 0});
}

void append_storing(dnnl::post_ops& post_ops, const ResultRule& result, float scale) {
  const float least = result.type == ElementType::s8 ? -128 : 0;
  const float zero_point = static_cast<float>(result.rule.zero_point);
  append_eltwise(post_ops, {dnnl::algorithm::eltwise_round, 0, 0});
  // A separate function for the change of scale takes longer than a factor of this one.
  append_eltwise(post_ops,
                 {dnnl::algorithm::eltwise_clip, least - zero_point, least + 255 - zero_point},
                 result.rule.scale / scale);
}

}  // namespace millrace::device::cpu::kernels::quantised
