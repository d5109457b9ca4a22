// oneDNN's resampling, for elements of any type that oneDNN has.
#pragma once

#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels {

using Resampling = dnnl::resampling_forward::primitive_desc;

// Returns the primitive that gives `result` from the first of `layouts` for which oneDNN has a fast
// kernel. Returns nothing if there is none, or if oneDNN computes other coordinates than the node.
std::optional<Resampling> make_resampling(const Builder& builder, const Node& node,
                                          const graph::Resize& op, const std::vector<Desc>& layouts,
                                          const Desc& result);
void add_resampling(Builder& builder, const Resampling& primitive, const Operand& from,
                    const Operand& to);

}  // namespace millrace::device::cpu::kernels
