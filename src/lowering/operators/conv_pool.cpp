// Handlers of Conv, AveragePool, MaxPool and global pooling. They resolve what the standard leaves
// to inference: defaults of strides and dilations, auto_pad, and ceil_mode, whose extra window
// positions become padding at the end.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/shape.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;

constexpr size_t kSpatialBegin = 2;  // in [N, C, spatial...]
// The largest kernel, stride, dilation and padding. Sums and products of these do not overflow 64
// bits.
constexpr int64_t kMaxWindow = int64_t{1} << 31;

// How a window slides: one entry per spatial dimension.
struct Window {
  Dims kernel, strides, dilations, pads_begin, pads_end;

  size_t rank() const { return kernel.size(); }
  int64_t extent(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

Status check_entries(const char* name, const Dims& entries, size_t count, int64_t low) {
  const bool fits = entries.size() == count && std::ranges::all_of(entries, [&](int64_t entry) {
                      return entry >= low && entry <= kMaxWindow;
                    });
  if (fits) return {};
  return invalid_argument(fmt::format("{} {} must have {} entries between {} and 2^31", name,
                                      graph::to_string(entries), count, low));
}

// auto_pad SAME: the output has ceil(input / stride) positions. The padding that this needs is
// divided between both ends; an odd element goes to the end (SAME_UPPER) or the beginning
// (SAME_LOWER).
void pad_to_same(const Dims& input, bool upper, Window* window) {
  for (size_t d = 0; d < window->rank(); ++d) {
    const int64_t size = input[kSpatialBegin + d];
    const int64_t positions = (size + window->strides[d] - 1) / window->strides[d];
    const int64_t needed =
        std::max<int64_t>(0, (positions - 1) * window->strides[d] + window->extent(d) - size);
    window->pads_begin[d] = upper ? needed / 2 : needed - needed / 2;
    window->pads_end[d] = needed - window->pads_begin[d];
  }
}

Status read_pads(NodeImport& node, Window* window) {
  const size_t rank = window->rank();
  const Dims pads = node.ints_attribute("pads").value_or(Dims(2 * rank, 0));
  if (pads.size() != 2 * rank) {
    return invalid_argument(fmt::format("pads {} must have two entries for each of {} dimensions",
                                        graph::to_string(pads), rank));
  }
  window->pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window->pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  MILLRACE_RETURN_IF_ERROR(check_entries("pads", window->pads_begin, rank, 0));
  return check_entries("pads", window->pads_end, rank, 0);
}

// Returns the window of a node over an input of this shape, with auto_pad resolved.
Result<Window> read_window(NodeImport& node, const Dims& input, Dims kernel) {
  if (input.size() <= kSpatialBegin) {
    return invalid_argument(
        fmt::format("its input {} has no spatial dimensions", graph::to_string(input)));
  }
  const size_t rank = input.size() - kSpatialBegin;
  Window window;
  window.kernel = std::move(kernel);
  window.strides = node.ints_attribute("strides").value_or(Dims(rank, 1));
  window.dilations = node.ints_attribute("dilations").value_or(Dims(rank, 1));
  MILLRACE_RETURN_IF_ERROR(check_entries("kernel_shape", window.kernel, rank, 1));
  MILLRACE_RETURN_IF_ERROR(check_entries("strides", window.strides, rank, 1));
  MILLRACE_RETURN_IF_ERROR(check_entries("dilations", window.dilations, rank, 1));
  window.pads_begin = window.pads_end = Dims(rank, 0);
  for (size_t d = 0; d < rank; ++d) {
    if (window.extent(d) > kMaxWindow)
      return invalid_argument("its dilated kernel is larger than 2^31 in a dimension");
  }
  const std::string auto_pad = node.string_attribute("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_to_same(input, auto_pad == "SAME_UPPER", &window);
  } else if (auto_pad == "NOTSET" || auto_pad.empty()) {
    MILLRACE_RETURN_IF_ERROR(read_pads(node, &window));
  } else if (auto_pad != "VALID") {
    return invalid_argument(fmt::format(
        "auto_pad is '{}'; expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", auto_pad));
  }
  return window;
}

// ceil_mode: the output has one more position if the last window extends beyond the padded input,
// unless that window would begin in the padding at the end. Extends pads_end by what that position
// needs, and returns by how much.
Dims extend_to_ceil(const Dims& input, Window* window) {
  Dims excess(window->rank(), 0);
  for (size_t d = 0; d < window->rank(); ++d) {
    const int64_t size = input[kSpatialBegin + d];
    const int64_t stride = window->strides[d];
    const int64_t room = size + window->pads_begin[d] + window->pads_end[d] - window->extent(d);
    if (room < 0 || room % stride == 0) continue;
    const int64_t last_begin = (room / stride + 1) * stride;
    if (last_begin >= size + window->pads_begin[d]) continue;
    excess[d] = last_begin - room;
    window->pads_end[d] += excess[d];
  }
  return excess;
}

Result<ValueId> emit_pool(NodeImport& node, graph::PoolKind kind, ValueId x) {
  const auto kernel = node.ints_attribute("kernel_shape");
  if (!kernel) return invalid_argument("it has no kernel_shape");
  const Dims image = node.builder().value(x).shape;
  MILLRACE_ASSIGN_OR_RETURN(Window window, read_window(node, image, *kernel));
  graph::Pool pool;
  pool.kind = kind;
  pool.count_include_pad =
      kind == graph::PoolKind::kAverage && node.int_attribute("count_include_pad", 0) != 0;
  pool.ceil_excess = Dims(window.rank(), 0);
  if (node.int_attribute("ceil_mode", 0) != 0) {
    pool.ceil_excess = extend_to_ceil(image, &window);
  }
  pool.kernel = std::move(window.kernel);
  pool.strides = std::move(window.strides);
  pool.dilations = std::move(window.dilations);
  pool.pads_begin = std::move(window.pads_begin);
  pool.pads_end = std::move(window.pads_end);
  return node.emit(std::move(pool), {x});
}

}  // namespace

graph::Fallback plain_conv(NodeImport& node, const char* type) {
  graph::Fallback conv{type, {{"group", node.int_attribute("group", 1)}}};
  if (std::string padding = node.string_attribute("auto_pad", ""); !padding.empty())
    conv.attributes.push_back({"auto_pad", std::move(padding)});
  for (const char* name : {"dilations", "kernel_shape", "output_padding", "pads", "strides"})
    if (std::optional<Dims> sizes = node.ints_attribute(name))
      conv.attributes.push_back({name, *std::move(sizes)});
  std::ranges::sort(conv.attributes, {}, &graph::Attribute::name);
  return conv;
}

Result<ValueId> emit_conv(NodeImport& node, ValueId x, ValueId weight, ValueId bias) {
  const Dims& shape = node.builder().value(weight).shape;
  if (shape.size() <= kSpatialBegin) {
    return invalid_argument(
        fmt::format("its weight {} has no spatial dimensions", graph::to_string(shape)));
  }
  const Dims kernel(shape.begin() + kSpatialBegin, shape.end());
  if (node.ints_attribute("kernel_shape").value_or(kernel) != kernel) {
    return invalid_argument(
        fmt::format("kernel_shape does not match its weight {}", graph::to_string(shape)));
  }
  MILLRACE_ASSIGN_OR_RETURN(Window window,
                            read_window(node, node.builder().value(x).shape, kernel));
  graph::Conv conv;
  conv.strides = std::move(window.strides);
  conv.dilations = std::move(window.dilations);
  conv.pads_begin = std::move(window.pads_begin);
  conv.pads_end = std::move(window.pads_end);
  conv.group = node.int_attribute("group", 1);
  return node.emit(std::move(conv), {x, weight, bias});
}

Result<ValueId> import_conv(NodeImport& node) {
  // The kernel of the fallback operator adds in a defined order (fallback/layers/convolution.cpp).
  if (node.builder().as_written())
    return unsupported("as_written leaves it to a fallback operator");
  return emit_conv(node, node.operand(0), node.operand(1), node.operand(2));
}

Result<ValueId> emit_average_pool(NodeImport& node, ValueId x) {
  return emit_pool(node, graph::PoolKind::kAverage, x);
}

Result<ValueId> emit_max_pool(NodeImport& node, ValueId x) {
  return emit_pool(node, graph::PoolKind::kMax, x);
}

Result<ValueId> import_max_pool(NodeImport& node) {
  return emit_max_pool(node, node.operand(0));
}

Result<ValueId> import_average_pool(NodeImport& node) {
  return emit_average_pool(node, node.operand(0));
}

Result<ValueId> import_global_average_pool(NodeImport& node) {
  return node.emit(graph::GlobalPool{graph::PoolKind::kAverage}, {node.operand(0)});
}

Result<ValueId> import_global_max_pool(NodeImport& node) {
  return node.emit(graph::GlobalPool{graph::PoolKind::kMax}, {node.operand(0)});
}

}  // namespace millrace::lowering
