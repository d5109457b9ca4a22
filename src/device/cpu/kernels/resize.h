// oneDNN's resampling, whatever the elements are.
#pragma once

#include <optional>
#include <vector>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/kernels.h"

namespace millrace::device::cpu::kernels {

using Resampling = dnnl::resampling_forward::primitive_desc;

// From the first of `layouts` for which oneDNN has a fast kernel that gives `result`; nothing
// where there is none, or oneDNN means other coordinates than the node.
std::optional<Resampling> make_resampling(const Builder& builder, const Node& node,
                                          const graph::Resize& op, const std::vector<Desc>& layouts,
                                          const Desc& result);
void add_resampling(Builder& builder, const Resampling& primitive, const Operand& from,
                    const Operand& to);

}  // namespace millrace::device::cpu::kernels
