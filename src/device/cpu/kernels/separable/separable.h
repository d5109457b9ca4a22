// A convolution of one pixel and the depthwise one behind it as one step of a program (loops.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/cpu/builder.h"
#include "device/cpu/kernels/convolution_primitive.h"
#include "device/cpu/kernels/separable/loops.h"

namespace millrace::device::cpu::kernels::separable {

using Readers = std::vector<std::vector<uint32_t>>;  // by value: the nodes that read it

// The depthwise Conv behind the node `pointwise` of the partition, which alone reads its result,
// where there is a step that computes both in FP32.
std::optional<uint32_t> partner_of(const graph::CompiledModel& model, const Readers& readers,
                                   const graph::Partition& partition, uint32_t pointwise);

// Whether that is the faster kernel by a simple rule, where nothing was measured: where the image
// between them is so large that to keep it out of memory saves time. Requirement: it has a partner.
bool is_worthwhile(const graph::Graph& graph, const graph::Node& pointwise);

// Of one image of the batch.
Geometry geometry_of(const Convolution& pointwise, const Convolution& depthwise);
// Of the chunks of an operator, those that it is divided into; each has scratch of its own.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks);
// Runs one image, with the lanes that help the job. `work` is all of it, and its scratch is that of
// `chunks` parts.
void run_divided(const RunState& state, const Geometry& geometry, const Layer& pointwise,
                 const Layer& depthwise, uint32_t chunks, const Work& work) noexcept;

// Leaves the node that is being lowered, a Conv, to its partner where it has one, and the form
// kSeparable; else false.
bool postpone(Builder& builder, const graph::Node& node);

// Lowers the node with the one before it that was left to it. False: there is none such.
Result<bool> lower_with_postponed(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu::kernels::separable
