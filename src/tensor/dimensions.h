// The dimensions of a tensor, independent of how a view arranges them: those of the CPU view in the
// order that the model declares, which for rank 4 counts as N, C, H, W. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tensor/desc.h"

namespace millrace::tensor {

// The dimension order of a dense view: position i of its shape holds dimension order[i].
// kInvalidArgument for blocked and grouped layouts, for a rank that does not fit the layout, and
// for an order that is not a permutation.
Result<std::vector<uint32_t>> order_of(const TensorDesc& view);

// The extents of the dimensions of a dense view, in dimension order. Errors as for order_of().
Result<std::vector<uint32_t>> dimensions_of(const TensorDesc& view);

// Describes a GENERIC view of a tensor, with elements of `type`: position i of its shape holds
// dimension order[i] of the CPU view. kInvalidArgument if the order is not a permutation of the
// dimensions or the type is UNKNOWN.
Result<TensorDesc> permuted_view(const TensorDesc& cpu, DataType type, std::vector<uint32_t> order);

// The shape [H, ceil(C / block), W, N, block] of an HCWNC layout. Requirement: four dimensions, N,
// C, H, W.
std::vector<uint32_t> blocked_shape(const std::vector<uint32_t>& dimensions, uint32_t block);

}  // namespace millrace::tensor
