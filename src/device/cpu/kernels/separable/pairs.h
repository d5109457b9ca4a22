// Finds the 1x1 convolutions that are fused with the depthwise one that follows (loops.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu::kernels::separable {

using Readers = std::vector<std::vector<uint32_t>>;  // by value: the nodes that read it

// Returns the depthwise Conv that alone reads the result of the node `pointwise` of the partition,
// if one step can compute both in `type`.
std::optional<uint32_t> partner_of(const graph::CompiledModel& model, ElementType type,
                                   const Readers& readers, const graph::Partition& partition,
                                   uint32_t pointwise);

// Whether the rule of plans chooses the step of both: if the intermediate image is so large that it
// saves time to keep it out of memory. Requirement: the node has a partner.
bool is_worthwhile(const graph::Graph& graph, ElementType type, const graph::Node& pointwise);

// Leaves the node that is being lowered, a Conv, to its partner. Returns false if it has none, or
// another form than kSeparable.
bool postpone(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu::kernels::separable
