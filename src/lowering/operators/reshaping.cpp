// Handlers of operators that keep the elements and change the shape or the order of dimensions:
// Reshape, Flatten, Squeeze, Unsqueeze, Transpose, DepthToSpace and SpaceToDepth. All become
// Reshape and Transpose.
#include <fmt/format.h>

#include <algorithm>

#include "graph/shape.h"
#include "lowering/evaluate/constant_data.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;

// Returns the axes of Squeeze and Unsqueeze, which are an attribute before opset 13 and an operand
// from then on; nothing if they are left out.
Result<std::optional<Dims>> listed_axes(NodeImport& node) {
  if (node.opset() < 13) return node.ints_attribute("axes");
  if (!node.has(1)) return std::optional<Dims>();
  MILLRACE_ASSIGN_OR_RETURN(Dims axes, node.constant_ints(1));
  return std::optional(std::move(axes));
}

bool contains(const Dims& axes, size_t axis) {
  return std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
}

// Replaces a -1 in the target shape by the size that the other dimensions leave.
Status resolve_open_dimension(const Dims& input, Dims* shape) {
  if (std::ranges::count(*shape, -1) > 1) {
    return invalid_argument(
        fmt::format("its shape {} has more than one -1", graph::to_string(*shape)));
  }
  const auto open = std::ranges::find(*shape, -1);
  if (open == shape->end()) return {};
  *open = 1;
  const int64_t elements = checked_product(input).value_or(0);
  const int64_t known = checked_product(*shape).value_or(0);
  if (known == 0 || elements % known != 0) {
    return invalid_argument(fmt::format(
        "its shape has a -1, but its other dimensions do not divide {} elements", elements));
  }
  *open = elements / known;
  return {};
}

// The shape of the image [N, C, H, W], and the block size, of DepthToSpace and SpaceToDepth.
struct Blocks {
  int64_t n, c, h, w, size;
};

Result<Blocks> read_blocks(NodeImport& node) {
  const Dims& x = node.shape(0);
  const int64_t size = node.int_attribute("blocksize", 0);
  if (x.size() != 4) return invalid_argument("its input must be an image [N, C, H, W]");
  if (size < 1 || size > (int64_t{1} << 16)) {
    return invalid_argument(fmt::format("blocksize {} is out of range", size));
  }
  return Blocks{x[0], x[1], x[2], x[3], size};
}

Result<ValueId> rearrange(NodeImport& node, Dims split, Dims permutation, Dims joined) {
  MILLRACE_ASSIGN_OR_RETURN(ValueId x, node.reshape(node.operand(0), std::move(split)));
  MILLRACE_ASSIGN_OR_RETURN(x, node.emit(graph::Transpose{std::move(permutation)}, {x}));
  return node.reshape(x, std::move(joined));
}

}  // namespace

Result<ValueId> import_reshape(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(Dims shape, node.constant_ints(1));
  const Dims& input = node.shape(0);
  const bool zero_copies = node.opset() < 14 || node.int_attribute("allowzero", 0) == 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 0 || !zero_copies) continue;
    if (d >= input.size()) {
      return invalid_argument(
          fmt::format("its shape {} copies a dimension that its input {} does not have",
                      graph::to_string(shape), graph::to_string(input)));
    }
    shape[d] = input[d];
  }
  MILLRACE_RETURN_IF_ERROR(resolve_open_dimension(input, &shape));
  return node.reshape(node.operand(0), std::move(shape));
}

Result<ValueId> import_flatten(NodeImport& node) {
  const Dims& input = node.shape(0);
  // The axis may equal the rank: then all dimensions go into the first dimension of the result.
  const int64_t axis = node.int_attribute("axis", 1);
  size_t split = input.size();
  if (axis != static_cast<int64_t>(split)) {
    MILLRACE_ASSIGN_OR_RETURN(split, normalise_axis(axis, input.size()));
  }
  const int64_t rows = *checked_product(std::span(input).first(split));
  const int64_t columns = *checked_product(std::span(input).subspan(split));
  return node.reshape(node.operand(0), {rows, columns});
}

Result<ValueId> import_squeeze(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<Dims> listed, listed_axes(node));
  const Dims& input = node.shape(0);
  MILLRACE_ASSIGN_OR_RETURN(const Dims axes, normalise_axes(listed.value_or(Dims()), input.size()));
  Dims shape;
  for (size_t d = 0; d < input.size(); ++d) {
    const bool drop = listed ? contains(axes, d) : input[d] == 1;
    if (!drop) shape.push_back(input[d]);
    if (drop && input[d] != 1) {
      return invalid_argument(
          fmt::format("it removes dimension {} of {}, which is not 1", d, graph::to_string(input)));
    }
  }
  return node.reshape(node.operand(0), std::move(shape));
}

Result<ValueId> import_unsqueeze(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<Dims> listed, listed_axes(node));
  if (!listed) return invalid_argument("it has no axes");
  const Dims& input = node.shape(0);
  const size_t rank = input.size() + listed->size();
  MILLRACE_ASSIGN_OR_RETURN(const Dims axes, normalise_axes(*listed, rank));
  Dims shape;
  auto next = input.begin();
  for (size_t d = 0; d < rank; ++d) shape.push_back(contains(axes, d) ? 1 : *next++);
  return node.reshape(node.operand(0), std::move(shape));
}

Result<ValueId> import_transpose(NodeImport& node) {
  const size_t rank = node.shape(0).size();
  Dims reversed;
  for (size_t d = rank; d-- > 0;) reversed.push_back(static_cast<int64_t>(d));
  return node.emit(graph::Transpose{node.ints_attribute("perm").value_or(reversed)},
                   {node.operand(0)});
}

// The channels are [block row, block column, C'] in mode DCR and [C', block row, block column] in
// mode CRD.
Result<ValueId> import_depth_to_space(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Blocks b, read_blocks(node));
  const std::string mode = node.string_attribute("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return invalid_argument(fmt::format("mode is '{}'; expected DCR or CRD", mode));
  }
  const int64_t c = b.c / (b.size * b.size);
  const Dims joined = {b.n, c, b.h * b.size, b.w * b.size};
  if (mode == "DCR") {
    return rearrange(node, {b.n, b.size, b.size, c, b.h, b.w}, {0, 3, 4, 1, 5, 2}, joined);
  }
  return rearrange(node, {b.n, c, b.size, b.size, b.h, b.w}, {0, 1, 4, 2, 5, 3}, joined);
}

Result<ValueId> import_space_to_depth(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Blocks b, read_blocks(node));
  const int64_t h = b.h / b.size;
  const int64_t w = b.w / b.size;
  return rearrange(node, {b.n, b.c, h, b.size, w, b.size}, {0, 3, 5, 1, 2, 4},
                   {b.n, b.c * b.size * b.size, h, w});
}

}  // namespace millrace::lowering
