// Slice, Pad and Expand.
#include <algorithm>

#include "device/cpu/kernels/elementwise/binary.h"
#include "device/cpu/kernels/kernels.h"
#include "device/cpu/kernels/movement/mapped_copy.h"
#include "device/cpu/kernels/primitives.h"
#include "graph/reference/index_offsets.h"

namespace millrace::device::cpu::kernels {
namespace {

using graph::ValueId;

// Returns a view of the part that the Slice selects, or nothing if the layout cannot be cut there.
std::optional<Desc> cut(const Desc& desc, const graph::Slice& op) {
  if (std::ranges::any_of(op.step, [](int64_t step) { return step != 1; })) return std::nullopt;
  return submemory(desc, op.size, op.begin);
}

}  // namespace

Status lower(Builder& builder, const Node& node, const graph::Slice& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  const Dims dims = builder.dims(x);
  if (builder.is_floating(x)) {
    MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.current(x));
    if (const auto part = cut(location.desc, op)) {
      builder.set_result(y, {location.buffer, *part});
      return {};
    }
  }
  const Dims strides = plain_strides(dims);
  CopyMap map;
  for (size_t i = 0; i < dims.size(); ++i)
    map.push_back(index_range(op.begin[i], op.size[i], op.step[i], strides[i]));
  return add_mapped_copy(builder, "Slice", x, y, map);
}

Status lower(Builder& builder, const Node& node, const graph::Pad& op) {
  const ValueId x = node.input(0), y = node.outputs[0];
  const Dims dims = builder.dims(x), strides = plain_strides(dims);
  CopyMap map;
  for (size_t i = 0; i < dims.size(); ++i) {
    std::vector<int64_t> offsets;
    for (int64_t index = -op.begin[i]; index < dims[i] + op.end[i]; ++index) {
      const int64_t from = graph::reference::padded_index(op.mode, index, dims[i]);
      offsets.push_back(from == graph::reference::kFill ? kFill : from * strides[i]);
    }
    map.push_back(std::move(offsets));
  }
  return add_mapped_copy(builder, "Pad", x, y, map, op.value);
}

Status lower(Builder& builder, const Node& node, const graph::Expand&) {
  const ValueId x = node.input(0), y = node.outputs[0];
  const Dims result = builder.dims(y), dims = with_rank(builder.dims(x), result.size());
  const Dims strides = plain_strides(dims);
  CopyMap map;
  for (size_t i = 0; i < result.size(); ++i)
    map.push_back(index_range(0, result[i], 1, dims[i] == 1 ? 0 : strides[i]));
  return add_mapped_copy(builder, "Expand", x, y, map);
}

}  // namespace millrace::device::cpu::kernels
