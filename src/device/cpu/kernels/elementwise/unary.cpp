// Unary: the library's elementwise primitives, and loops for the functions it does not have.
#include <algorithm>
#include <cmath>
#include <memory>

#include "device/cpu/kernels/elements.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/primitives.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::Activation;
using graph::UnaryKind;

template <class T, class F>
class LoopStep final : public Step {
 public:
  LoopStep(BufferId from, BufferId to, size_t count, F function)
      : from_(from), to_(to), count_(count), function_(function) {}
  std::vector<BufferId> buffers() const override { return {from_, to_}; }
  Status run(const RunState& state) const noexcept override {
    const T* from = state.input<T>(from_);
    T* to = state.output<T>(to_);
    for (size_t i = 0; i < count_; ++i) to[i] = from_float<T>(function_(to_float(from[i])));
    return {};
  }

 private:
  BufferId from_, to_;
  size_t count_;
  F function_;
};

template <class F>
Status add_loop(Builder& builder, const Operand& from, const Operand& to, F function) {
  const ElementType type = from.desc.data_type();
  const size_t count = from.desc.get_size() / dnnl::memory::data_type_size(type);
  with_element(type, [&](auto element) {
    using T = decltype(element);
    builder.add("Unary", "millrace:loop",
                std::make_unique<LoopStep<T, F>>(from.buffer, to.buffer, count, function));
  });
  return {};
}

// Calling a primitive takes longer than that many elements of a loop: 150 ns.
bool is_short_relu(const Activation& function, const Desc& desc) {
  constexpr int64_t kShort = 1024;
  return function.kind == UnaryKind::kRelu && desc.data_type() == ElementType::f32 &&
         is_dense(desc) && static_cast<int64_t>(desc.get_size() / sizeof(float)) <= kShort;
}

// The library has a logarithm, too, but at 1 it is 1.4e-6 away from zero.
bool has_own(const Activation& function) {
  return function.kind == UnaryKind::kLog || !eltwise_of(function);
}

// Every function here but the hard sigmoid and the logarithm keeps zero, so padding lanes stay
// zero; these two never meet any.
Status add_own(Builder& builder, const Activation& function, const Operand& from,
               const Operand& to) {
  const float alpha = function.alpha, beta = function.beta;
  switch (function.kind) {
    case UnaryKind::kRelu:
      return add_loop(builder, from, to, [](float x) { return x > 0 ? x : 0.0f; });
    case UnaryKind::kLog:
      return add_loop(builder, from, to, [](float x) { return std::log(x); });
    case UnaryKind::kErf:
      return add_loop(builder, from, to, [](float x) { return std::erf(x); });
    case UnaryKind::kRound:
      return add_loop(builder, from, to, [](float x) { return std::nearbyint(x); });
    case UnaryKind::kFloor:
      return add_loop(builder, from, to, [](float x) { return std::floor(x); });
    case UnaryKind::kCeil:
      return add_loop(builder, from, to, [](float x) { return std::ceil(x); });
    case UnaryKind::kHardSigmoid:
      return add_loop(builder, from, to, [alpha, beta](float x) {
        return std::max(0.0f, std::min(1.0f, alpha * x + beta));
      });
    default:
      return unsupported(std::string("the function ") + name_of(function.kind));
  }
}

}  // namespace

Status add_unary(Builder& builder, const Activation& function, const Operand& from,
                 const Operand& to) {
  const auto eltwise = eltwise_of(function);
  if (!eltwise) return add_own(builder, function, from, to);
  const auto primitive = find_eltwise(builder.engine(), make_attributes(), *eltwise, from.desc);
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

Status lower(Builder& builder, const Node& node, const graph::Unary& op) {
  const graph::ValueId x = node.input(0), y = node.outputs[0];
  MILLRACE_ASSIGN_OR_RETURN(Operand from, builder.current(x));
  if (op.function.kind == UnaryKind::kIdentity) {
    builder.set_result(y, from);
    return {};
  }
  if (is_short_relu(op.function, from.desc))
    return add_own(builder, op.function, from, builder.new_result_over(y, from.desc, x, from));
  if (!has_own(op.function)) {
    MILLRACE_ASSIGN_OR_RETURN(const bool lowered,
                              lower_eltwise(builder, node, *eltwise_of(op.function)));
    if (lowered) return {};
    return unsupported(std::string("the function ") + name_of(op.function.kind));
  }
  if (has_padding(from.desc) || !is_dense(from.desc)) {
    MILLRACE_ASSIGN_OR_RETURN(from, builder.plain(x));
  }
  return add_own(builder, op.function, from, builder.new_result_over(y, from.desc, x, from));
}

}  // namespace millrace::device::cpu::kernels
