#include "graph/reference/index_offsets.h"

#include <algorithm>

namespace millrace::graph::reference {

Dims dense_strides(std::span<const int64_t> shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

IndexOffsets broadcast_offsets(const Dims& shape, const Dims& output) {
  const Dims strides = dense_strides(shape);
  const size_t missing = output.size() - shape.size();
  IndexOffsets offsets(output.size());
  // No element will be visited. The other dimensions of an empty array may be of any size, so their
  // offsets are not made.
  if (std::ranges::find(output, 0) != output.end()) return offsets;
  for (size_t d = 0; d < output.size(); ++d) {
    const bool repeats = d < missing || shape[d - missing] == 1;
    offsets[d].resize(static_cast<size_t>(output[d]));
    for (size_t i = 0; i < offsets[d].size(); ++i) {
      offsets[d][i] = repeats ? 0 : static_cast<int64_t>(i) * strides[d - missing];
    }
  }
  return offsets;
}

int64_t padded_index(PadMode mode, int64_t index, int64_t size) noexcept {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case PadMode::kConstant:
      return kFill;
    case PadMode::kEdge:
      return std::clamp<int64_t>(index, 0, size - 1);
    case PadMode::kReflect: {
      const int64_t period = std::max<int64_t>(1, 2 * (size - 1));
      const int64_t wrapped = ((index % period) + period) % period;
      return std::min(wrapped, period - wrapped);
    }
  }
  return kFill;
}

}  // namespace millrace::graph::reference
