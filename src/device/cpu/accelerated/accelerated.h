// Fast lowerings of fallback operators: by oneDNN's primitives and by vector loops, on any kind of
// partition, in place of the plain kernel of src/fallback.
//
// A lowering takes the variants of its operator that it has a kernel for, and refuses the others,
// which then run by the plain kernel. Both give the same results, up to rounding where the operator
// computes with floating point elements (tests/device_cpu/accelerated).
#pragma once

#include "base/status.h"
#include "device/cpu/builder/builder.h"
#include "fallback/node_view.h"

namespace millrace::device::cpu::accelerated {

// A node whose types, shapes and attributes the operator's shape function accepts. The device
// states the type of its first operand (capabilities/fast_fallbacks.h). Of the operands, constants
// have their elements.
struct AcceleratedNode {
  const graph::Node& node;
  const fallback::NodeView view;

  graph::ValueId input(size_t index) const noexcept { return node.input(index); }
};

// Adds the node's steps and results and returns true; or adds nothing and returns false, where it
// does not cover the variant. May throw oneDNN's exceptions (see guarded()), but not after it has
// added anything.
using Lowering = Result<bool> (*)(Builder& builder, const AcceleratedNode& node);

// Adds the steps of a fallback operator: by the lowering for it where there is one that takes the
// variant, between ranks for a collective, else by the plain kernel. kUnsupported or
// kInvalidArgument, with the reason, for operands that the operator does not take. May throw
// oneDNN's exceptions.
Status lower_fallback(Builder& builder, const graph::Node& node, const graph::Fallback& op);

// The lowering for a node that the device states as a fast fallback; null for any other node.
// Thread-safe.
Lowering find_lowering(const graph::Graph& graph, const graph::Node& node) noexcept;

// One per family; table.cpp has the names.
Result<bool> lower_attention(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_blocked_product(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_cached_attention(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_conv_transpose(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_dequantize(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_dynamic_quantize(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_gelu(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_group_norm(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_gru(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_instance_norm(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_integer_product(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_layer_norm(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_lstm(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_quantize(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_quick_gelu(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_rms_norm(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_rnn(Builder& builder, const AcceleratedNode& node);
Result<bool> lower_rounded_lstm(Builder& builder, const AcceleratedNode& node);

}  // namespace millrace::device::cpu::accelerated
