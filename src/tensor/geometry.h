// How the elements of the CPU view lie in the HW view.
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "tensor/conversion/walk.h"
#include "tensor/desc.h"

namespace millrace::tensor {

// An NCHW image with N = 1 as rows of pixels, each pixel one block of channels; strides are in
// elements. `rows` and `pixels` are H and W, merged into one row where the HW view has one block.
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
  std::vector<Box> padding;  // HW elements that hold no value; the source strides are 0
  std::optional<BlockedImage> image;
};

// kInvalidArgument when the two cannot be views of one tensor, naming why.
Result<Geometry> plan_geometry(const TensorDesc& cpu, const TensorDesc& hw);

}  // namespace millrace::tensor
