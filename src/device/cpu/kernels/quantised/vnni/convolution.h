// Convolutions of bytes by the loops of this folder, as steps of a program, in place of oneDNN's
// where that is slower.
#pragma once

#include <optional>
#include <variant>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/quantised/vnni/constants.h"
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/planar.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

using Layer = std::variant<DepthwiseLayer, PointwiseLayer, PlanarLayer>;

// Returns nothing if the loops cannot compute the convolution, or oneDNN's is as fast.
std::optional<Layer> layer_of(const Convolution& convolution,
                              const std::optional<ResidualRule>& residual);

// Adds the step. Requirements: `layer` is the result of layer_of() for the convolution, and
// `images` has a residual if that got one.
void add_step(Builder& builder, const Layer& layer, const Convolution& convolution,
              const ImageBuffers& images);

// Fuses a 1x1 (pointwise) Conv and the depthwise Conv that alone reads its result.
std::optional<PlanarLayer> layer_of(const Convolution& pointwise, const Convolution& depthwise);
void add_step(Builder& builder, const PlanarLayer& layer, const Convolution& pointwise,
              const Convolution& depthwise, const ImageBuffers& images);

}  // namespace millrace::device::cpu::kernels::quantised::vnni
