// The geometry of convolutions and transposed convolutions, for their plain kernels and the faster
// ones of the CPU device. Thread-safe.
#pragma once

#include <cstddef>

#include "fallback/window.h"

namespace millrace::fallback {

// The extents of a convolution: x [N, C, ...] and weights [M, C / groups, ...] give [N, M, ...].
struct ConvolutionExtents {
  SpatialWindow window;
  Dims positions;                                         // spatial dimensions of the output
  size_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group

  size_t output_channels() const { return groups * outputs; }
};

// Returns the extents of a node with the attributes of Conv, with auto_pad resolved;
// kInvalidArgument if operands and attributes do not match.
Result<ConvolutionExtents> convolution_extents(const NodeView& node, const TensorView& x,
                                               const TensorView& weights);

// The extents of a transposed convolution: x [N, C, ...] and weights [C, M / groups, ...] give [N,
// M, ...].
struct TransposedExtents {
  SpatialWindow window;
  Dims output;                                            // spatial dimensions
  size_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
};

// Returns the extents of a ConvTranspose, with auto_pad and output_shape resolved; kInvalidArgument
// if operands and attributes do not match.
Result<TransposedExtents> transposed_extents(const NodeView& node);

}  // namespace millrace::fallback
