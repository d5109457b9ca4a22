// A convolution of one pixel and the depthwise one behind it as one step of a program (loops.h).
#pragma once

#include <cstdint>

#include "device/cpu/builder.h"
#include "device/cpu/kernels/convolution/primitive.h"
#include "device/cpu/kernels/separable/loops.h"

namespace millrace::device::cpu::kernels::separable {

// Of one image of the batch, of the type in which the first computes.
Geometry geometry_of(const Convolution& pointwise, const Convolution& depthwise);
// The layout of the image and of the result.
Desc image_layout(const Geometry& geometry, ElementType type, const Dims& dims);
// Of the chunks of an operator, those that it is divided into; each has scratch of its own.
uint32_t parts_with_scratch(const Geometry& geometry, uint32_t chunks);
// Runs one image, of FP32 or of BF16 (uint16_t), with the lanes that help the job. `work` is all of
// it, and its scratch is that of `chunks` parts.
template <class T>
void run_divided(const RunState& state, const Geometry& geometry, const LayerOf<T>& pointwise,
                 const Layer& depthwise, uint32_t chunks, const WorkOf<T>& work) noexcept;

// Lowers the node with the one before it that was left to it. False: there is none such.
Result<bool> lower_with_postponed(Builder& builder, const graph::Node& node);

}  // namespace millrace::device::cpu::kernels::separable
