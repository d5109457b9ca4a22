#include "fallback/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::fallback {
namespace {

// The limit for attributes. It keeps the product of a stride and a dimension, which transposed
// convolutions need, from overflowing. The Conv of the graph has no such product.
constexpr int64_t kMaxWindow = int64_t{1} << 20;

Result<Dims> read_list(const NodeView& node, const char* name, size_t count, int64_t absent,
                       int64_t least) {
  const Dims* list = node.integers(name);
  if (list == nullptr) return Dims(count, absent);
  const bool fits = list->size() == count && std::ranges::all_of(*list, [&](int64_t value) {
                      return value >= least && value <= kMaxWindow;
                    });
  if (fits) return *list;
  return invalid_argument(fmt::format("{} is {}: it must have {} entries of at least {}", name,
                                      graph::to_string(*list), count, least));
}

// auto_pad SAME: as many positions as strides fit into the input. The padding is shared between
// both ends; an odd element goes to the end, or to the beginning for SAME_LOWER.
void pad_to_same(SpatialWindow& window, std::span<const int64_t> input, bool lower) {
  for (size_t d = 0; d < window.rank(); ++d) {
    const int64_t stride = window.strides[d], positions = (input[d] + stride - 1) / stride;
    const int64_t total =
        std::max<int64_t>(0, (positions - 1) * stride + window.extent(d) - input[d]);
    window.pads_begin[d] = lower ? (total + 1) / 2 : total / 2;
    window.pads_end[d] = total - window.pads_begin[d];
  }
}

Status resolve_padding(const NodeView& node, std::span<const int64_t> input,
                       SpatialWindow& window) {
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_to_same(window, input, automatic == "SAME_LOWER");
    return {};
  }
  if (automatic == "VALID") {
    std::ranges::fill(window.pads_begin, 0);
    std::ranges::fill(window.pads_end, 0);
    return {};
  }
  if (automatic.empty() || automatic == "NOTSET") return {};
  return invalid_argument(fmt::format("unknown auto_pad '{}'", automatic));
}

}  // namespace

int64_t SpatialWindow::taps() const noexcept {
  int64_t taps = 1;
  for (const int64_t size : kernel) taps *= size;
  return taps;
}

Result<SpatialWindow> read_window(const NodeView& node, std::span<const int64_t> input,
                                  Dims kernel) {
  const size_t rank = input.size();
  const Dims* stated = node.integers("kernel_shape");
  if (kernel.size() != rank || rank == 0 || (stated != nullptr && *stated != kernel))
    return invalid_argument("the kernel does not match the rank of the input, or kernel_shape");
  for (const int64_t size : kernel)
    if (size < 1 || size > kMaxWindow) return invalid_argument("the kernel is out of range");
  SpatialWindow window;
  window.kernel = std::move(kernel);
  MILLRACE_ASSIGN_OR_RETURN(window.strides, read_list(node, "strides", rank, 1, 1));
  MILLRACE_ASSIGN_OR_RETURN(window.dilations, read_list(node, "dilations", rank, 1, 1));
  MILLRACE_ASSIGN_OR_RETURN(const Dims pads, read_list(node, "pads", 2 * rank, 0, 0));
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  MILLRACE_RETURN_IF_ERROR(resolve_padding(node, input, window));
  return window;
}

Result<Dims> positions_of(const SpatialWindow& window, std::span<const int64_t> input) {
  Dims positions;
  for (size_t d = 0; d < window.rank(); ++d) {
    const int64_t room = input[d] + window.pads_begin[d] + window.pads_end[d] - window.extent(d);
    if (room < 0) return invalid_argument("the kernel is larger than the padded input");
    positions.push_back(room / window.strides[d] + 1);
  }
  return positions;
}

WindowWalk::WindowWalk(const SpatialWindow& window, std::span<const int64_t> dense,
                       std::span<const int64_t> strided)
    : window_(window),
      dense_(dense.begin(), dense.end()),
      strided_(strided.begin(), strided.end()),
      dense_size_(element_count(dense)),
      strided_size_(element_count(strided)) {}

WindowWalk::Range WindowWalk::range_of(size_t d, int64_t tap) const {
  const int64_t stride = window_.strides[d];
  const int64_t shift = tap * window_.dilations[d] - window_.pads_begin[d];
  // The smallest position with position * stride + shift >= 0, and the first one beyond the end.
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t room = strided_[d] - shift;
  const int64_t last = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {first, std::min(last, dense_[d]), shift};
}

}  // namespace millrace::fallback
