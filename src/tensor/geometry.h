// Maps the elements of the CPU view of a tensor to those of its HW view, as loop nests over strides
// (Box in tensor/conversion/walk.h). The loop nests cover every pair of views; for an image in a
// blocked layout there is also a description by rows and blocks, for the vector kernels
// (tensor/conversion/kernels.h). Thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "tensor/conversion/walk.h"
#include "tensor/desc.h"

namespace millrace::tensor {

// An image with N = 1 that is NCHW in the CPU view and in blocks of `block` channels (HCWNC) in the
// HW view. `rows` and `pixels` (per row) are H and W. If there is only one block, the rows are
// contiguous on both sides and count as one row. Strides are in elements.
struct BlockedImage {
  size_t rows;
  size_t pixels;
  size_t channels;
  size_t block;

  size_t blocks() const noexcept { return (channels + block - 1) / block; }
  size_t channel_stride() const noexcept { return rows * pixels; }
};

struct Geometry {
  std::vector<Box> values;   // from the CPU view to the HW view
  std::vector<Box> padding;  // HW elements of channels that do not exist; source strides are 0
  std::optional<BlockedImage> image;  // describes `values` and `padding` together
};

// kInvalidArgument if the two cannot be views of one tensor; the message says why.
Result<Geometry> plan_geometry(const TensorDesc& cpu, const TensorDesc& hw);

}  // namespace millrace::tensor
