// Dense views give one loop nest over all dimensions. Blocked views give two: whole blocks, and the
// last block if it is not full; a third one covers its padding.
#include "tensor/geometry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "tensor/dimensions.h"

namespace millrace::tensor {
namespace {

using Extents = std::vector<uint32_t>;

// The strides of a dense view, in elements, in dimension order.
std::vector<size_t> dense_strides(const Extents& order, const Extents& shape) {
  std::vector<size_t> strides(shape.size());
  size_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= shape[i];
  }
  return strides;
}

Status differ(const TensorDesc& hw, const Extents& expected) {
  return invalid_argument(fmt::format("tensor \"{}\": the {} view must have shape [{}], not [{}]",
                                      hw.name, to_string(hw.layout), fmt::join(expected, ","),
                                      fmt::join(hw.shape, ",")));
}

Status check_addressable(const TensorDesc& view) {
  if (size_of(view.type) == 0)
    return invalid_argument(fmt::format("tensor \"{}\": a view has no data type", view.name));
  if (view.bytes() <= static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max())) return {};
  return invalid_argument(fmt::format("tensor \"{}\": shape [{}] is larger than any memory",
                                      view.name, fmt::join(view.shape, ",")));
}

void add(std::vector<Box>& boxes, Box box) {
  if (!box.empty()) boxes.push_back(simplified(std::move(box)));
}

// Makes the loop nests over parts of a blocked view, whose shape is [H, ceil(C / block), W, N,
// block].
struct BlockedView {
  const Extents& dimensions;  // N, C, H, W
  size_t block;

  // The loop nest over `lanes` channels of each of `blocks` blocks, from channel `first_lane` of
  // block `first_block` on. `from` are the strides of the CPU view by dimension.
  Box box(size_t first_block, size_t blocks, size_t first_lane, size_t lanes,
          const std::vector<size_t>& from) const {
    const size_t batch = dimensions[0], width = dimensions[3];
    const size_t block_stride = width * batch * block;
    const size_t row_stride = block_stride * ((dimensions[1] + block - 1) / block);
    return Box{(first_block * block + first_lane) * from[1],
               first_block * block_stride + first_lane,
               {{dimensions[2], from[2], row_stride},
                {blocks, block * from[1], block_stride},
                {width, from[3], batch * block},
                {batch, from[0], block},
                {lanes, from[1], 1}}};
  }
};

// The last block is partly padding if the number of channels is not a multiple of the block.
Geometry blocked_geometry(const Extents& dimensions, const std::vector<size_t>& from,
                          size_t block) {
  const BlockedView view{dimensions, block};
  const size_t full = dimensions[1] / block, rest = dimensions[1] % block;
  Geometry geometry;
  add(geometry.values, view.box(0, full, 0, block, from));
  if (rest != 0) {
    add(geometry.values, view.box(full, 1, 0, rest, from));
    Box padding = view.box(full, 1, rest, block - rest, {0, 0, 0, 0});
    add(geometry.padding, std::move(padding));
  }
  const bool planar =
      from[3] == 1 && from[2] == dimensions[3] && from[1] == size_t{dimensions[2]} * dimensions[3];
  if (dimensions[0] == 1 && planar && !geometry.values.empty()) {
    geometry.image = BlockedImage{dimensions[2], dimensions[3], dimensions[1], block};
    if (geometry.image->blocks() == 1)
      geometry.image = BlockedImage{1, from[1], dimensions[1], block};
  }
  return geometry;
}

}  // namespace

Result<Geometry> plan_geometry(const TensorDesc& cpu, const TensorDesc& hw) {
  MILLRACE_RETURN_IF_ERROR(check_addressable(cpu));
  MILLRACE_RETURN_IF_ERROR(check_addressable(hw));
  MILLRACE_ASSIGN_OR_RETURN(const Extents cpu_order, order_of(cpu));
  MILLRACE_ASSIGN_OR_RETURN(const Extents dimensions, dimensions_of(cpu));
  const std::vector<size_t> from = dense_strides(cpu_order, cpu.shape);

  if (const uint32_t block = channel_block(hw.layout); block != 0) {
    if (dimensions.size() != 4)
      return invalid_argument(
          fmt::format("tensor \"{}\": layout {} needs a CPU view of rank 4, not {}", hw.name,
                      to_string(hw.layout), dimensions.size()));
    const Extents expected = blocked_shape(dimensions, block);
    if (hw.shape != expected) return differ(hw, expected);
    return blocked_geometry(dimensions, from, block);
  }

  MILLRACE_ASSIGN_OR_RETURN(const Extents hw_order, order_of(hw));
  Extents expected;
  for (const uint32_t dimension : hw_order)
    if (dimension < dimensions.size()) expected.push_back(dimensions[dimension]);
  if (hw.shape != expected || dimensions.size() != expected.size()) return differ(hw, expected);
  const std::vector<size_t> to = dense_strides(hw_order, hw.shape);
  Box box;
  for (size_t i = 0; i < dimensions.size(); ++i)
    box.dims.push_back({dimensions[i], from[i], to[i]});
  Geometry geometry;
  add(geometry.values, std::move(box));
  return geometry;
}

}  // namespace millrace::tensor
