// 1x1 (pointwise) convolutions by the loops of this folder, as steps of a program, in place of
// oneDNN's, with the same results: its kernels take several times as long for the finishing of the
// sums as for the products.
#pragma once

#include <optional>

#include "device/cpu/builder/builder.h"
#include "device/cpu/kernels/quantised/amx/pointwise_loops.h"
#include "device/cpu/kernels/quantised/vnni/constants.h"

namespace millrace::device::cpu::kernels::quantised::amx {

// Nothing where the loops cannot compute it. Requirement: oneDNN has a kernel with tiles for
// it, which pays.
std::optional<PointwiseLayer> layer_of(const vnni::Convolution& convolution,
                                       const std::optional<vnni::ResidualRule>& residual);

// Requirements: `layer` is what layer_of() has given for the convolution, and there is a residual
// among the images where one was given to that.
void add_step(Builder& builder, const PointwiseLayer& layer, const vnni::Convolution& convolution,
              const vnni::ImageBuffers& images);

}  // namespace millrace::device::cpu::kernels::quantised::amx
