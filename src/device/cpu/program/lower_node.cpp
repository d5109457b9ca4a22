#include "device/cpu/program/lower_node.h"

#include <variant>

#include "device/cpu/accelerated/accelerated.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/quantised/quantised.h"

namespace millrace::device::cpu {
namespace {

struct ByKernels {
  template <class Operator>
  Status operator()(const Operator& op) const {
    return kernels::lower(builder, node, op);
  }
  Status operator()(const graph::Fallback& op) const {
    return accelerated::lower_fallback(builder, node, op);
  }

  Builder& builder;
  const graph::Node& node;
};

}  // namespace

Status lower_node(Builder& builder, const graph::Node& node) {
  MILLRACE_ASSIGN_OR_RETURN(const bool lowered, kernels::quantised::lower(builder, node));
  if (lowered) return {};
  return std::visit(ByKernels{builder, node}, node.op);
}

}  // namespace millrace::device::cpu
