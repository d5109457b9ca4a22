// Convolutions of bytes by the loops of this folder, as steps of a program, in place of the
// library's where that is slower.
#pragma once

#include <optional>
#include <variant>

#include "device/cpu/builder.h"
#include "device/cpu/kernels/quantised/vnni/constants.h"
#include "device/cpu/kernels/quantised/vnni/depthwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/planar.h"
#include "device/cpu/kernels/quantised/vnni/pointwise_loops.h"

namespace millrace::device::cpu::kernels::quantised::vnni {

using Layer = std::variant<DepthwiseLayer, PointwiseLayer, PlanarLayer>;

// Nothing where the loops cannot compute it, or the library's convolution is as fast.
std::optional<Layer> layer_of(const Convolution& convolution);

// Adds the step. Requirement: `layer` is layer_of(convolution), and the images x and y lie with
// their channels innermost.
void add_step(Builder& builder, const Layer& layer, const Convolution& convolution, BufferId x,
              BufferId y);

// The same for a Conv of one pixel and the depthwise one that alone reads its result, as one step.
std::optional<PlanarLayer> layer_of(const Convolution& pointwise, const Convolution& depthwise);
void add_step(Builder& builder, const PlanarLayer& layer, const Convolution& pointwise,
              const Convolution& depthwise, BufferId x, BufferId y);

}  // namespace millrace::device::cpu::kernels::quantised::vnni
