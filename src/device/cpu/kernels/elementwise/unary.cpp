// Unary: oneDNN's elementwise primitives, and loops for the functions it does not have.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "device/cpu/kernels/careful_step.h"
#include "device/cpu/kernels/elementwise/loop_step.h"
#include "device/cpu/kernels/elementwise/loops.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::Activation;
using graph::UnaryKind;

// Calls `loop` with contiguous floats, or with BF16 elements as uint16_t.
template <class Loop>
std::unique_ptr<const Step> make_loop_step(const Builder& builder, const Operand& from,
                                           const Operand& to, Loop loop) {
  const size_t count = elements_in_memory(from.desc);
  if (from.desc.data_type() == ElementType::bf16)
    return std::make_unique<LoopStep<uint16_t, Loop>>(from.buffer, to.buffer, count,
                                                      builder.chunks(), loop);
  return std::make_unique<LoopStep<float, Loop>>(from.buffer, to.buffer, count, builder.chunks(),
                                                 loop);
}

float as_number(float element) {
  return element;
}
float as_number(uint16_t bits) {
  return tensor::bf16_to_float(bits);
}
void put(float number, float& to) {
  to = number;
}
void put(float number, uint16_t& to) {
  to = tensor::float_to_bf16(number);
}

// Applies `function` to each element in turn.
template <class F>
std::unique_ptr<const Step> make_function_step(const Builder& builder, const Operand& from,
                                               const Operand& to, F function) {
  return make_loop_step(builder, from, to, [function](const auto* x, auto* y, size_t count) {
    for (size_t i = 0; i < count; ++i) put(function(as_number(x[i])), y[i]);
  });
}

// oneDNN has a logarithm, too, but its value at 1 is 1.4e-6 instead of zero. Its exponential of NaN
// is infinite, and its functions with bounds return a bound for NaN. Its soft ReLU, for which
// eltwise_of() gives nothing, has an absolute error of 8e-6: 1.3 % of the softplus of -10.
bool has_own(const Activation& function) {
  switch (function.kind) {
    case UnaryKind::kRelu:
    case UnaryKind::kClip:
    case UnaryKind::kHardSigmoid:
    case UnaryKind::kExp:
    case UnaryKind::kLog:
      return true;
    default:
      return !eltwise_of(function);
  }
}

// Returns whether the loop over a tensor gives zeros in its padding.
bool gives_zeros_in_padding(const Activation& function, const Desc& desc) {
  if (!has_padding(desc)) return true;
  if (const auto bounds = clamp_bounds(function)) return keeps_padding(desc, *bounds);
  return function.kind != UnaryKind::kHardSigmoid && function.kind != UnaryKind::kExp &&
         function.kind != UnaryKind::kSigmoid && function.kind != UnaryKind::kLog &&
         function.kind != UnaryKind::kSoftplus;
}

// Returns null where there is no such loop. The tensors are dense.
std::unique_ptr<const Step> make_own_step(const Builder& builder, const Activation& function,
                                          const Operand& from, const Operand& to) {
  const float alpha = function.alpha, beta = function.beta;
  if (const auto bounds = clamp_bounds(function))
    return make_bounds_step(builder, *bounds, from, to);
  switch (function.kind) {
    case UnaryKind::kExp:
      return make_loop_step(builder, from, to, [](const auto* x, auto* y, size_t count) {
        exponentials(x, y, count);
      });
    case UnaryKind::kSoftplus:
      return make_loop_step(builder, from, to,
                            [](const auto* x, auto* y, size_t count) { softplus(x, y, count); });
    case UnaryKind::kLeakyRelu:
      return make_function_step(builder, from, to,
                                [alpha](float x) { return x < 0 ? alpha * x : x; });
    case UnaryKind::kSigmoid:
      return make_function_step(builder, from, to, [](float x) { return 1 / (1 + std::exp(-x)); });
    case UnaryKind::kSwish:
      return make_function_step(builder, from, to, [](float x) { return x / (1 + std::exp(-x)); });
    case UnaryKind::kHardSwish:
      return make_function_step(builder, from, to, [](float x) {
        return x * std::max(std::min(x / 6 + 0.5f, 1.0f), 0.0f);
      });
    case UnaryKind::kLog:
      return make_function_step(builder, from, to, [](float x) { return std::log(x); });
    case UnaryKind::kErf:
      return make_function_step(builder, from, to, [](float x) { return std::erf(x); });
    case UnaryKind::kGelu:
      return make_function_step(builder, from, to, [](float x) {
        return 0.5f * x * (1 + std::erf(x / std::numbers::sqrt2_v<float>));
      });
    case UnaryKind::kRound:
      return make_function_step(builder, from, to, [](float x) { return std::nearbyint(x); });
    case UnaryKind::kFloor:
      return make_function_step(builder, from, to, [](float x) { return std::floor(x); });
    case UnaryKind::kCeil:
      return make_function_step(builder, from, to, [](float x) { return std::ceil(x); });
    case UnaryKind::kHardSigmoid:
      // In this order of operands NaN stays NaN.
      return make_function_step(builder, from, to, [alpha, beta](float x) {
        return std::max(std::min(alpha * x + beta, 1.0f), 0.0f);
      });
    default:
      return nullptr;
  }
}

Status add_own(Builder& builder, const Activation& function, const Operand& from,
               const Operand& to) {
  auto step = make_own_step(builder, function, from, to);
  if (!step) return unsupported(std::string("the function ") + name_of(function.kind));
  builder.add("Unary", "millrace:loop", std::move(step));
  return {};
}

// Adds the function over plain memory, which has no padding.
Status add_own_padded(Builder& builder, const Activation& function, const Operand& from,
                      const Operand& to) {
  const graph::ValueId moved = builder.result();
  const Operand plain =
      builder.reordered(moved, from, plain_desc(from.desc.dims(), from.desc.data_type()));
  MILLRACE_RETURN_IF_ERROR(add_own(builder, function, plain, plain));
  builder.add_reorder(moved, plain, to);
  return {};
}

}  // namespace

std::unique_ptr<const Step> make_bounds_step(const Builder& builder, const Bounds& bounds,
                                             const Operand& from, const Operand& to) {
  return make_loop_step(builder, from, to, [bounds](const auto* x, auto* y, size_t count) {
    keep_between(x, y, count, bounds);
  });
}

Status add_unary(Builder& builder, const Activation& function, const Operand& from,
                 const Operand& to) {
  if (has_own(function))
    return gives_zeros_in_padding(function, from.desc)
               ? add_own(builder, function, from, to)
               : add_own_padded(builder, function, from, to);
  const auto primitive =
      find_eltwise(builder.engine(), make_attributes(), *eltwise_of(function), from.desc);
  if (!primitive) return unsupported(std::string("the function ") + name_of(function.kind));
  builder.add_primitive("Unary", primitive, dnnl::eltwise_forward(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return {};
}

Result<bool> lower_eltwise(Builder& builder, const Node& node, const Eltwise& eltwise) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(const Operand now, builder.current(x));
  const auto choice = choose(layouts_for(now.desc), [&](const Desc& layout) {
    return find_eltwise(builder.engine(), make_attributes(), eltwise, layout);
  });
  if (!choice) return false;
  MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.in_layout(x, choice->option));
  const Operand to = builder.new_result_over(y, from.desc, x, from);
  const auto& primitive = choice->primitive;
  builder.add_primitive(name_of(node.op), primitive, dnnl::eltwise_forward(primitive),
                        {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  return true;
}

Status lower_function(Builder& builder, graph::ValueId x, graph::ValueId y,
                      const Activation& function) {
  MILLRACE_ASSIGN_OR_RETURN(Operand from, builder.current(x));
  if (!is_dense(from.desc) || !gives_zeros_in_padding(function, from.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(from, builder.plain(x));
  }
  return add_own(builder, function, from, builder.new_result_over(y, from.desc, x, from));
}

Status lower(Builder& builder, const Node& node, const graph::Unary& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  if (op.function.kind == UnaryKind::kIdentity) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand from, builder.current(x));
    builder.set_result(y, from);
    return {};
  }
  if (has_own(op.function)) return lower_function(builder, x, y, op.function);
  MILLRACE_ASSIGN_OR_RETURN(const bool lowered,
                            lower_eltwise(builder, node, *eltwise_of(op.function)));
  if (lowered) return {};
  return unsupported(std::string("the function ") + name_of(op.function.kind));
}

}  // namespace millrace::device::cpu::kernels
