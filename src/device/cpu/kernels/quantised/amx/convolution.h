// Pointwise (1x1) convolutions by the loops of this folder, as steps of a program. They take the
// place of oneDNN's, with the same results: its kernels take several times as long for the epilogue
// as for the products.
#pragma once

#include <optional>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/quantised/amx/pointwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/constants.h"

namespace millrace::device::cpu::kernels::quantised::amx {

// Returns nothing if the loops cannot compute it. Requirement: rank_for() has chosen a oneDNN
// kernel with tiles.
std::optional<PointwiseLayer> layer_of(const vnni::Convolution& convolution,
                                       const std::optional<vnni::ResidualRule>& residual);

// Requirements: `layer` is the result of layer_of() for the convolution, and `images` has a
// residual if that got one.
void add_step(Builder& builder, const PointwiseLayer& layer, const vnni::Convolution& convolution,
              const vnni::ImageBuffers& images);

}  // namespace millrace::device::cpu::kernels::quantised::amx
