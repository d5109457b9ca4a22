// The geometry of convolutions, for their plain kernels and for faster ones.
#pragma once

#include <cstddef>

#include "fallback/window.h"

namespace millrace::fallback {

// Extents for x [N, C, ...] and weights [M, C / groups, ...], which give [N, M, ...].
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

// Extents for x [N, C, ...] and weights [C, M / groups, ...], which give [N, M, ...].
struct TransposedExtents {
  SpatialWindow window;
  Dims output;                                            // spatial dimensions
  size_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
};

// Returns the extents of a ConvTranspose, with auto_pad and output_shape resolved; kInvalidArgument
// if operands and attributes do not match.
Result<TransposedExtents> transposed_extents(const NodeView& node);

}  // namespace millrace::fallback
