// TensorScatter: writes keys or values of new tokens into a cache of fixed length. Each batch entry
// has a position of its own at which the update begins; in the mode "circular" the cache is a ring.
//
// Operands: the cache [batch, ..., length, ...], the update with the same dimensions but that along
// the axis, and optionally the positions [batch], 0 if absent. Output: the cache after the update.
#include <fmt/format.h>

#include <algorithm>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kCache = 0, kUpdate = 1, kPositions = 2;

Result<size_t> axis_of(const NodeView& node) {
  MILLRACE_ASSIGN_OR_RETURN(
      const size_t axis, graph::normalise_axis(node.integer("axis", -2), node.in(kCache).rank()));
  if (axis != 0) return axis;
  return invalid_argument("its axis is that of the batch");
}

Status check_write_mode(const NodeView& node) {
  const std::string mode = node.text("mode", "linear");
  if (mode == "linear" || mode == "circular") return {};
  return invalid_argument(fmt::format("mode '{}' is neither linear nor circular", mode));
}

Status shape_of_tensor_scatter(Inference& node) {
  const TensorView &cache = node.in(kCache), &update = node.in(kUpdate);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, axis_of(node));
  MILLRACE_RETURN_IF_ERROR(check_write_mode(node));
  if (update.type != cache.type) return invalid_argument("its cache and its update differ in type");
  Dims wanted = to_dims(cache.dims);
  if (update.rank() > axis) wanted[axis] = std::min(wanted[axis], update.dims[axis]);
  if (to_dims(update.dims) != wanted)
    return invalid_argument(fmt::format("an update {} does not fit into a cache {}",
                                        graph::to_string(to_dims(update.dims)),
                                        graph::to_string(to_dims(cache.dims))));
  if (node.has(kPositions) && (node.in(kPositions).type != DataType::kInt64 ||
                               to_dims(node.in(kPositions).dims) != Dims{cache.dims[0]}))
    return invalid_argument("its positions must be one INT64 for each entry of the batch");
  return same_as_first(node);
}

// Returns the position at which the update of a batch entry begins.
Result<size_t> position_of(const Call& call, size_t entry, size_t length, size_t written,
                           bool is_ring) {
  const int64_t position = call.has(kPositions) ? call.in(kPositions).as<int64_t>()[entry] : 0;
  const auto begin = static_cast<size_t>(position);
  if (position >= 0 && is_ring) return begin % length;
  if (position >= 0 && begin <= length - written) return begin;
  return invalid_argument(fmt::format(
      "position {} of batch entry {} is outside a cache of length {} for an update of length {}",
      position, entry, length, written));
}

Status tensor_scatter(const Call& call) {
  const TensorView &cache = call.in(kCache), &update = call.in(kUpdate);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis, axis_of(call));
  const AxisSplit to(cache.dims, axis), from(update.dims, axis);
  const bool is_ring = call.text("mode", "linear") == "circular";
  const size_t row = to.inner * tensor::size_of(cache.type);
  const auto entries = static_cast<size_t>(cache.dims[0]);
  // A job may bind the memory of the cache as that of the result, too. If it fails, the cache has
  // not changed.
  for (size_t entry = 0; entry < entries && update.elements() > 0; ++entry)
    MILLRACE_RETURN_IF_ERROR(position_of(call, entry, to.size, from.size, is_ring).status());
  if (cache.data != call.out(0).data)
    std::copy_n(cache.data, to.outer * to.size * row, call.out(0).data);
  if (update.elements() == 0) return {};
  const size_t rows_of_entry = to.outer / entries;
  for (size_t outer = 0; outer < to.outer; ++outer) {
    MILLRACE_ASSIGN_OR_RETURN(
        const size_t begin, position_of(call, outer / rows_of_entry, to.size, from.size, is_ring));
    const size_t before_end = std::min(from.size, to.size - begin);
    const std::byte* const rows = update.data + outer * from.size * row;
    std::byte* const place = call.out(0).data + outer * to.size * row;
    std::copy_n(rows, before_end * row, place + begin * row);
    std::copy_n(rows + before_end * row, (from.size - before_end) * row, place);
  }
  return {};
}

constexpr AttributeSpec kTensorScatter[] = {{"axis", AttributeKind::kInteger},
                                            {"mode", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> tensor_scatter_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"TensorScatter",
       24,
       {2, 3},
       {},
       kAll,
       shape_of_tensor_scatter,
       tensor_scatter,
       kTensorScatter},
  };
  return kOperators;
}

}  // namespace millrace::fallback
