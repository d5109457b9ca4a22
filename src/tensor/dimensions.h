// The dimensions of a tensor, independent of how a view arranges them: those of the CPU view in the
// order the model declares, which for rank 4 counts as N, C, H, W.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tensor/desc.h"

namespace millrace::tensor {

// The order of a dense view (position i holds dimension order[i]). kInvalidArgument for blocked and
// grouped layouts, for a rank that does not fit the layout, and for an order that is not
// a permutation.
Result<std::vector<uint32_t>> order_of(const TensorDesc& view);

// The extents of the dimensions, in dimension order, of a dense view.
Result<std::vector<uint32_t>> dimensions_of(const TensorDesc& view);

// The GENERIC view of a tensor, in `type`, whose position i holds dimension order[i] of its CPU
// view. kInvalidArgument unless the order has each dimension once, and for a type without a size.
Result<TensorDesc> permuted_view(const TensorDesc& cpu, DataType type, std::vector<uint32_t> order);

// The shape [H, ceil(C / block), W, N, block]. Requirement: four dimensions.
std::vector<uint32_t> blocked_shape(const std::vector<uint32_t>& dimensions, uint32_t block);

}  // namespace millrace::tensor
