// Handlers of operators that select, join, pad and repeat elements: Concat, Slice, Split, Gather,
// Pad, Expand and Tile. Lists such as starts, pads and sizes must be constants; the operators of
// the graph have them with one entry per dimension.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/shape.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;

// The lists of a Slice: attributes before opset 10, operands from then on.
struct SliceLists {
  Dims starts, ends, axes, steps;
};

Status read_slice_operands(NodeImport& node, SliceLists* lists) {
  if (!node.has(1) || !node.has(2)) return invalid_argument("it has no starts or ends");
  MILLRACE_ASSIGN_OR_RETURN(lists->starts, node.constant_ints(1));
  MILLRACE_ASSIGN_OR_RETURN(lists->ends, node.constant_ints(2));
  if (node.has(3)) {
    MILLRACE_ASSIGN_OR_RETURN(lists->axes, node.constant_ints(3));
  }
  if (node.has(4)) {
    MILLRACE_ASSIGN_OR_RETURN(lists->steps, node.constant_ints(4));
  }
  return {};
}

Result<SliceLists> read_slice(NodeImport& node) {
  SliceLists lists;
  if (node.opset() < 10) {
    lists.starts = node.ints_attribute("starts").value_or(Dims());
    lists.ends = node.ints_attribute("ends").value_or(Dims());
    lists.axes = node.ints_attribute("axes").value_or(Dims());
  } else {
    MILLRACE_RETURN_IF_ERROR(read_slice_operands(node, &lists));
  }
  const size_t count = lists.starts.size();
  if (lists.axes.empty()) {
    lists.axes.resize(count);
    std::iota(lists.axes.begin(), lists.axes.end(), 0);
  }
  if (lists.steps.empty()) lists.steps.assign(count, 1);
  if (lists.ends.size() != count || lists.axes.size() != count || lists.steps.size() != count) {
    return invalid_argument("its starts, ends, axes and steps differ in length");
  }
  return lists;
}

// Sets dimension `d` of the slice to start:end:step, with numpy's rules for negative and large
// indices.
Status slice_dimension(int64_t dim, size_t d, int64_t start, int64_t end, int64_t step,
                       graph::Slice* slice) {
  if (step == 0) return invalid_argument("a step is 0");
  // A step beyond the dimension selects one element at most, however large it is; the limit
  // prevents overflow.
  step = std::clamp(step, -dim - 1, dim + 1);
  const auto position = [dim](int64_t index) {
    return index < 0 ? std::max(index, -dim - 1) + dim : std::min(index, dim);
  };
  int64_t begin = position(start);
  int64_t stop = position(end);
  if (step > 0) {
    begin = std::max<int64_t>(begin, 0);
    stop = std::max<int64_t>(stop, 0);
  } else {
    begin = std::min(begin, dim - 1);
  }
  const int64_t size =
      step > 0 ? (stop - begin + step - 1) / step : (begin - stop - step - 1) / -step;
  const bool empty = size < 1 || begin < 0;
  slice->begin[d] = empty ? 0 : begin;
  slice->size[d] = empty ? 0 : size;
  slice->step[d] = empty || size == 1 ? 1 : step;
  return {};
}

graph::Slice whole(const Dims& shape) {
  return {Dims(shape.size(), 0), shape, Dims(shape.size(), 1)};
}

// Returns the sizes of the parts of a Split: an attribute before opset 13, an operand from then on.
// If none are stated, the parts are equal, except that the last may be smaller.
Result<Dims> split_sizes(NodeImport& node, int64_t dim) {
  if (node.opset() < 13) {
    if (const auto sizes = node.ints_attribute("split")) return *sizes;
  } else if (node.has(1)) {
    return node.constant_ints(1);
  }
  const auto parts = static_cast<int64_t>(node.output_count());
  if (node.opset() >= 18 && node.int_attribute("num_outputs", parts) != parts) {
    return invalid_argument("num_outputs does not match the number of its outputs");
  }
  const int64_t part = (dim + parts - 1) / parts;
  Dims sizes(static_cast<size_t>(parts), part);
  sizes.back() = dim - part * (parts - 1);
  return sizes;
}

// Sets the padding of all dimensions from `pads`, which lists the begins and then the ends for
// `axes`.
Status read_pads(NodeImport& node, const Dims& pads, const Dims& axes, graph::Pad* pad) {
  if (pads.size() != 2 * axes.size()) {
    return invalid_argument(fmt::format("pads {} must have two entries for each of {} axes",
                                        graph::to_string(pads), axes.size()));
  }
  const size_t rank = node.shape(0).size();
  pad->begin.assign(rank, 0);
  pad->end.assign(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t d, normalise_axis(axes[i], rank));
    pad->begin[d] = pads[i];
    pad->end[d] = pads[axes.size() + i];
  }
  return {};
}

// Returns the padding value. The graph holds it as a float, whatever the type of the data.
Result<float> padding_value(const NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const float value, node.constant_float(2));
  if (!tensor::is_integer(node.value(2).type)) return value;
  MILLRACE_ASSIGN_OR_RETURN(const Dims exact, node.constant_ints(2));
  // A float represents all integers up to 2^24.
  constexpr int64_t kExact = int64_t{1} << 24;
  if (exact[0] >= -kExact && exact[0] <= kExact) return value;
  return unsupported(
      fmt::format("its padding value {} is beyond 2^24, so FLOAT32 may not hold it", exact[0]));
}

Result<graph::PadMode> pad_mode(const std::string& mode) {
  if (mode == "constant") return graph::PadMode::kConstant;
  if (mode == "reflect") return graph::PadMode::kReflect;
  if (mode == "edge") return graph::PadMode::kEdge;
  return unsupported(fmt::format("mode is '{}'", mode));
}

Dims all_axes(size_t rank) {
  Dims axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

Result<ValueId> import_concat(NodeImport& node) {
  if (!node.has_attribute("axis")) return invalid_argument("it has no axis");
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", 0), node.shape(0).size()));
  if (node.operand_count() == 1) return node.operand(0);
  return node.emit(graph::Concat{static_cast<int64_t>(axis)}, node.operands());
}

Result<ValueId> import_slice(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const SliceLists lists, read_slice(node));
  const Dims& shape = node.shape(0);
  MILLRACE_RETURN_IF_ERROR(normalise_axes(lists.axes, shape.size()).status());
  graph::Slice slice = whole(shape);
  for (size_t i = 0; i < lists.axes.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t d, normalise_axis(lists.axes[i], shape.size()));
    MILLRACE_RETURN_IF_ERROR(
        slice_dimension(shape[d], d, lists.starts[i], lists.ends[i], lists.steps[i], &slice));
  }
  if (slice == whole(shape)) return node.operand(0);
  return node.emit(std::move(slice), {node.operand(0)});
}

Result<ValueId> import_split(NodeImport& node) {
  const Dims shape = node.shape(0);
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", 0), shape.size()));
  MILLRACE_ASSIGN_OR_RETURN(const Dims sizes, split_sizes(node, shape[axis]));
  if (sizes.size() != node.output_count()) {
    return invalid_argument(
        fmt::format("it has {} sizes for {} outputs", sizes.size(), node.output_count()));
  }
  ValueId first = kNoValue;
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    graph::Slice slice = whole(shape);
    slice.begin[axis] = begin;
    slice.size[axis] = sizes[i];
    MILLRACE_ASSIGN_OR_RETURN(const ValueId part, node.emit(std::move(slice), {node.operand(0)}));
    begin += sizes[i];
    if (i == 0) first = part;
    if (i > 0) node.set_output(i, part);
  }
  if (begin == shape[axis]) return first;
  return invalid_argument(fmt::format("its sizes {} do not add up to the dimension of {}",
                                      graph::to_string(sizes), shape[axis]));
}

Result<ValueId> import_gather(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                            normalise_axis(node.int_attribute("axis", 0), node.shape(0).size()));
  return node.emit(graph::Gather{static_cast<int64_t>(axis)}, {node.operand(0), node.operand(1)});
}

Result<ValueId> import_pad(NodeImport& node) {
  if (node.opset() >= 11) return import_pad_by_operands(node);
  graph::Pad pad;
  MILLRACE_ASSIGN_OR_RETURN(pad.mode, pad_mode(node.string_attribute("mode", "constant")));
  pad.value = node.float_attribute("value", 0);
  const Dims pads = node.ints_attribute("pads").value_or(Dims());
  MILLRACE_RETURN_IF_ERROR(read_pads(node, pads, all_axes(node.shape(0).size()), &pad));
  return node.emit(std::move(pad), {node.operand(0)});
}

Result<ValueId> import_pad_by_operands(NodeImport& node) {
  graph::Pad pad;
  MILLRACE_ASSIGN_OR_RETURN(pad.mode, pad_mode(node.string_attribute("mode", "constant")));
  if (!node.has(1)) return invalid_argument("it has no pads");
  MILLRACE_ASSIGN_OR_RETURN(const Dims pads, node.constant_ints(1));
  Dims axes = all_axes(node.shape(0).size());
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(pad.value, padding_value(node));
  }
  if (node.has(3)) {
    MILLRACE_ASSIGN_OR_RETURN(axes, node.constant_ints(3));
  }
  MILLRACE_RETURN_IF_ERROR(read_pads(node, pads, axes, &pad));
  return node.emit(std::move(pad), {node.operand(0)});
}

Result<ValueId> import_expand(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims wanted, node.constant_ints(1));
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(wanted));
  MILLRACE_ASSIGN_OR_RETURN(Dims shape, graph::broadcast(node.shape(0), wanted));
  if (shape == node.shape(0)) return node.operand(0);
  return node.emit(graph::Expand{std::move(shape)}, {node.operand(0)});
}

// Tile becomes Reshape, Expand, Reshape: each repeated dimension gets a dimension of 1 in front,
// which is expanded to the number of repeats and then merged with it.
Result<ValueId> import_tile(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims repeats, node.constant_ints(1));
  const Dims& shape = node.shape(0);
  if (repeats.size() != shape.size()) {
    return invalid_argument(
        fmt::format("it has {} repeats for {} dimensions", repeats.size(), shape.size()));
  }
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(repeats).with_context("repeats"));
  Dims split, repeated, joined;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (repeats[d] != 1) {
      split.push_back(1);
      repeated.push_back(repeats[d]);
    }
    split.push_back(shape[d]);
    repeated.push_back(shape[d]);
  }
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(repeated));
  for (size_t d = 0; d < shape.size(); ++d) joined.push_back(shape[d] * repeats[d]);
  if (joined == shape) return node.operand(0);
  MILLRACE_ASSIGN_OR_RETURN(ValueId x, node.reshape(node.operand(0), std::move(split)));
  MILLRACE_ASSIGN_OR_RETURN(x, node.emit(graph::Expand{std::move(repeated)}, {x}));
  return node.reshape(x, std::move(joined));
}

}  // namespace millrace::lowering
