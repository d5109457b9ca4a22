#include <algorithm>
#include <variant>

#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu::kernels::quantised {
namespace {

// Other operators have no kernel on integers.
template <class Op>
Result<bool> lower(Builder&, const Node&, const Op&) {
  return false;
}

bool has_quantised(const Builder& builder, const Node& node) {
  const auto is_quantised = [&](graph::ValueId id) {
    return id != graph::kNoValue && builder.is_quantised(id);
  };
  return std::ranges::any_of(node.inputs, is_quantised) ||
         std::ranges::any_of(node.outputs, is_quantised);
}

}  // namespace

Result<bool> lower(Builder& builder, const Node& node) {
  if (!builder.computes_int8() || !has_quantised(builder, node)) return false;
  return std::visit([&](const auto& op) { return lower(builder, node, op); }, node.op);
}

}  // namespace millrace::device::cpu::kernels::quantised
