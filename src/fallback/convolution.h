// The geometry of convolutions, for their plain kernels and for faster ones.
#pragma once

#include <cstddef>

#include "fallback/window.h"

namespace millrace::fallback {

// Of x [N, C, ...] and weights [M, C / groups, ...], which give [N, M, ...].
struct ConvolutionExtents {
  SpatialWindow window;
  Dims positions;                                         // spatial dimensions of the output
  size_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group

  size_t output_channels() const { return groups * outputs; }
};

// Those of a node with the attributes of Conv, with auto_pad settled; kInvalidArgument where
// operands and attributes do not fit.
Result<ConvolutionExtents> convolution_extents(const NodeView& node, const TensorView& x,
                                               const TensorView& weights);

// Of x [N, C, ...] and weights [C, M / groups, ...], which give [N, M, ...].
struct TransposedExtents {
  SpatialWindow window;
  Dims output;                                            // spatial dimensions
  size_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
};

// Those of a ConvTranspose, with auto_pad and output_shape settled; kInvalidArgument where operands
// and attributes do not fit.
Result<TransposedExtents> transposed_extents(const NodeView& node);

}  // namespace millrace::fallback
