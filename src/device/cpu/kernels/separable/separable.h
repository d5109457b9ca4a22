// A 1x1 convolution followed by a depthwise one, as one step of a program (loops.h).
#pragma once

#include <cstdint>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/separable/loops.h"

namespace millrace::device::cpu::kernels::separable {

// Returns the geometry of one image of the batch, in the type that the pointwise one computes in.
Geometry geometry_of(const Convolution& pointwise, const Convolution& depthwise);
// The layout of the image and of the result.
Desc image_layout(const Geometry& geometry, ElementType type, const Dims& dims);
// Number of parts, at most `chunks`, that an operator is divided into. Each has its own scratch.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks);
// Runs one image, of FP32 or of BF16 (uint16_t), with the lanes that help the job. `work` is all of
// it, and its scratch is that of `chunks` parts.
template <class T>
void run_divided(const RunState& state, const Geometry& geometry, const LayerOf<T>& pointwise,
                 const Layer& depthwise, uint32_t chunks, const WorkOf<T>& work) noexcept;

// Lowers the node with the one before it that was left to it. Returns false if there is none.
Result<bool> lower_with_postponed(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu::kernels::separable
