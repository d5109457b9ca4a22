// Pooling that the Pool of the graph does not support: MaxPool with indices or for integers,
// AveragePool, LpPool and GlobalLpPool; MaxUnpool, the inverse of MaxPool; and Col2Im, which adds
// overlapping windows to an image. Windows are processed tap by tap with WindowWalk.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/window.h"

namespace millrace::fallback {
namespace {

std::span<const int64_t> spatial(std::span<const int64_t> dims) {
  return dims.subspan(2);
}

// A window over x [N, C, ...], and its number of positions by dimension.
struct Pooling {
  SpatialWindow window;
  Dims positions;
};

// ceil_mode adds a position if a window extends beyond the end, unless it would begin in the
// padding after the input.
void extend_to_ceil(const SpatialWindow& window, std::span<const int64_t> input, Dims& positions) {
  for (size_t d = 0; d < window.rank(); ++d) {
    const int64_t room = input[d] + window.pads_begin[d] + window.pads_end[d] - window.extent(d);
    const bool hangs_over = room % window.strides[d] != 0;
    if (hangs_over && positions[d] * window.strides[d] < input[d] + window.pads_begin[d])
      ++positions[d];
  }
}

// A limit on the work per output element that kernel_shape can cause, whatever the size of the
// input.
constexpr int64_t kMaxTaps = int64_t{1} << 24;

Status check_taps(const SpatialWindow& window) {
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(window.kernel));
  if (window.taps() > kMaxTaps) return invalid_argument("the kernel is out of range");
  for (size_t d = 0; d < window.rank(); ++d)
    if (std::max(window.pads_begin[d], window.pads_end[d]) >= window.extent(d))
      return invalid_argument("a pooling window lies in the padding");
  return {};
}

Result<SpatialWindow> window_of(const NodeView& node) {
  const TensorView& x = node.in(0);
  if (x.rank() < 3) return invalid_argument("its input has no spatial dimensions");
  const Dims* kernel = node.integers("kernel_shape");
  if (kernel == nullptr) return invalid_argument("it has no kernel_shape");
  MILLRACE_ASSIGN_OR_RETURN(SpatialWindow window, read_window(node, spatial(x.dims), *kernel));
  MILLRACE_RETURN_IF_ERROR(check_taps(window));
  return window;
}

Result<Pooling> pooling_of(const NodeView& node) {
  Pooling pooling;
  MILLRACE_ASSIGN_OR_RETURN(pooling.window, window_of(node));
  const auto input = spatial(node.in(0).dims);
  MILLRACE_ASSIGN_OR_RETURN(pooling.positions, positions_of(pooling.window, input));
  if (node.integer("ceil_mode") != 0) extend_to_ceil(pooling.window, input, pooling.positions);
  if (element_count(input) == 0 && element_count(pooling.positions) != 0)
    return invalid_argument("its input is empty, so its windows contain only padding");
  return pooling;
}

Dims with_positions(const TensorView& x, const Dims& positions) {
  Dims dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), positions.begin(), positions.end());
  return dims;
}

Status shape_of_pool(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Pooling pooling, pooling_of(node));
  const Dims dims = with_positions(node.in(0), pooling.positions);
  node.set(0, node.in(0).type, dims);
  node.set(1, DataType::kInt64, dims);
  return {};
}

size_t planes_of(const TensorView& x) {
  return static_cast<size_t>(x.dims[0] * x.dims[1]);
}

// Calls visit(position, offset in the plane) for all taps of all windows, in the order of taps
// within a window.
template <class Visit>
void for_each_tap(const Pooling& pooling, const WindowWalk& walk, Visit&& visit) {
  const auto taps = static_cast<size_t>(pooling.window.taps());
  const size_t stride = walk.row_stride();
  for (size_t tap = 0; tap < taps; ++tap) {
    walk.for_each_row(tap, [&](size_t dense, size_t strided, size_t count) {
      for (size_t i = 0; i < count; ++i) visit(dense + i, strided + i * stride);
    });
  }
}

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

// Converts a row-major offset to a column-major one, in which the elements of the first spatial
// dimension are adjacent (storage_order = 1).
size_t column_major(size_t offset, std::span<const int64_t> dims) {
  size_t result = 0, size = element_count(dims);
  for (size_t d = dims.size(); d-- > 0;) {
    const auto dim = static_cast<size_t>(dims[d]);
    size /= dim;
    result += offset % dim * size;
    offset /= dim;
  }
  return result;
}

template <class T>
void max_pool_of(const Call& call, const Pooling& pooling) {
  const auto input = spatial(call.in(0).dims);
  const WindowWalk walk(pooling.window, pooling.positions, input);
  const bool by_column = call.integer("storage_order") != 0;
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> best(walk.dense_size());
  for (size_t plane = 0; plane < planes_of(call.in(0)); ++plane) {
    const T* const x = call.in(0).as<T>().data() + plane * walk.strided_size();
    T* const y = call.out(0).as<T>().data() + plane * walk.dense_size();
    std::fill_n(y, walk.dense_size(), kLowest<T>);
    std::ranges::fill(best, kNone);
    for_each_tap(pooling, walk, [&](size_t position, size_t offset) {
      // The first element of a window is always taken, even if it is the lowest value of its type.
      // NaN counts as the largest value.
      const T most = y[position], next = x[offset];
      const bool is_larger = next > most || (next != next && most == most);
      if (best[position] != kNone && !is_larger) return;
      y[position] = x[offset];
      best[position] = offset;
    });
    if (call.output_count() < 2) continue;
    int64_t* const indices = call.out(1).as<int64_t>().data() + plane * walk.dense_size();
    for (size_t i = 0; i < best.size(); ++i) {
      const size_t chosen = best[i] == kNone ? 0 : best[i];  // none: only padding
      const size_t offset = by_column ? column_major(chosen, input) : chosen;
      indices[i] = static_cast<int64_t>(plane * walk.strided_size() + offset);
    }
  }
}

Status max_pool(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Pooling pooling, pooling_of(call));
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    max_pool_of<decltype(zero)>(call, pooling);
    return {};
  });
}

// Returns the number of taps of a window from `low` to below `high` in one dimension.
int64_t taps_within(const SpatialWindow& window, size_t d, int64_t position, int64_t low,
                    int64_t high) {
  const int64_t begin = position * window.strides[d] - window.pads_begin[d];
  const auto taps_before = [&](int64_t limit) {
    const int64_t distance = std::max<int64_t>(0, limit - begin);
    return std::min(window.kernel[d], (distance + window.dilations[d] - 1) / window.dilations[d]);
  };
  return taps_before(high) - taps_before(low);
}

// Returns the divisor of the sum of each position: the number of taps on the input and, with
// count_include_pad, on its padding; taps beyond the padding (ceil_mode) never count.
std::vector<double> divisors_of(const Pooling& pooling, std::span<const int64_t> input,
                                bool include_pad) {
  std::vector<double> divisors = {1};
  for (size_t d = 0; d < pooling.window.rank(); ++d) {
    const int64_t low = include_pad ? -pooling.window.pads_begin[d] : 0;
    const int64_t high = input[d] + (include_pad ? pooling.window.pads_end[d] : 0);
    std::vector<double> counts, products;
    for (int64_t position = 0; position < pooling.positions[d]; ++position)
      counts.push_back(static_cast<double>(taps_within(pooling.window, d, position, low, high)));
    for (const double divisor : divisors)
      for (const double count : counts) products.push_back(divisor * count);
    divisors = std::move(products);
  }
  return divisors;
}

Status average_pool(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Pooling pooling, pooling_of(call));
  const auto input = spatial(call.in(0).dims);
  const WindowWalk walk(pooling.window, pooling.positions, input);
  const auto divisors = divisors_of(pooling, input, call.integer("count_include_pad") != 0);
  std::vector<double> sums(walk.dense_size());
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t plane = 0; plane < planes_of(call.in(0)); ++plane) {
      const T* const x = call.in(0).as<T>().data() + plane * walk.strided_size();
      T* const y = call.out(0).as<T>().data() + plane * walk.dense_size();
      std::ranges::fill(sums, 0);
      for_each_tap(pooling, walk,
                   [&](size_t position, size_t offset) { sums[position] += x[offset]; });
      // The mean of a window that contains only padding is 0.
      for (size_t i = 0; i < sums.size(); ++i)
        y[i] = divisors[i] == 0 ? T{0} : static_cast<T>(sums[i] / divisors[i]);
    }
    return {};
  });
}

Result<double> norm_order(const NodeView& node) {
  const int64_t p = node.integer("p", 2);
  if (p < 1) return invalid_argument(fmt::format("p is {}, but must be positive", p));
  return static_cast<double>(p);
}

double to_power(double x, double p) {
  return p == 2 ? x * x : std::pow(std::fabs(x), p);
}

Status shape_of_lp_pool(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(norm_order(node).status());
  return shape_of_pool(node);
}

Status lp_pool(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Pooling pooling, pooling_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const double p, norm_order(call));
  const WindowWalk walk(pooling.window, pooling.positions, spatial(call.in(0).dims));
  std::vector<double> sums(walk.dense_size());
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t plane = 0; plane < planes_of(call.in(0)); ++plane) {
      const T* const x = call.in(0).as<T>().data() + plane * walk.strided_size();
      T* const y = call.out(0).as<T>().data() + plane * walk.dense_size();
      std::ranges::fill(sums, 0);
      for_each_tap(pooling, walk, [&](size_t position, size_t offset) {
        sums[position] += to_power(x[offset], p);
      });
      for (size_t i = 0; i < sums.size(); ++i) y[i] = static_cast<T>(std::pow(sums[i], 1 / p));
    }
    return {};
  });
}

Status shape_of_global_lp_pool(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(norm_order(node).status());
  if (node.in(0).rank() < 3) return invalid_argument("its input has no spatial dimensions");
  node.set(0, node.in(0).type, with_positions(node.in(0), Dims(node.in(0).rank() - 2, 1)));
  return {};
}

Status global_lp_pool(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const double p, norm_order(call));
  const size_t size = element_count(spatial(call.in(0).dims));
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto y = call.out(0).as<T>();
    for (size_t plane = 0; plane < y.size(); ++plane) {
      double sum = 0;
      for (const T element : call.in(0).as<T>().subspan(plane * size, size))
        sum += to_power(element, p);
      y[plane] = static_cast<T>(std::pow(sum, 1 / p));
    }
    return {};
  });
}

// Returns the dimensions of the input of the MaxPool that a MaxUnpool inverts. The indices refer to
// them.
Result<Dims> unpooled_dims(const NodeView& node) {
  MILLRACE_ASSIGN_OR_RETURN(const SpatialWindow window, window_of(node));
  const auto input = spatial(node.in(0).dims);
  Dims dims;
  for (size_t d = 0; d < window.rank(); ++d) {
    const int64_t size = (input[d] - 1) * window.strides[d] + window.kernel[d] -
                         window.pads_begin[d] - window.pads_end[d];
    if (size < 1) return invalid_argument("the padding is larger than the output");
    dims.push_back(size);
  }
  return with_positions(node.in(0), dims);
}

Status shape_of_max_unpool(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(Dims dims, unpooled_dims(node));
  const TensorView& indices = node.in(1);
  if (indices.type != DataType::kInt64 || !std::ranges::equal(indices.dims, node.in(0).dims))
    return invalid_argument("the indices must be INT64 and have the shape of the input");
  if (node.has(2)) {
    MILLRACE_ASSIGN_OR_RETURN(Dims stated, node.known_integers(2));
    if (stated.size() != dims.size() || stated[0] != dims[0] || stated[1] != dims[1] ||
        !std::ranges::equal(stated, dims, [](int64_t a, int64_t b) { return a >= b; }))
      return invalid_argument(
          fmt::format("output_shape {} is smaller than {}, the shape that the input had before "
                      "pooling",
                      graph::to_string(stated), graph::to_string(dims)));
    dims = std::move(stated);
  }
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

// Converts an offset in a tensor with dimensions `from` to that of the same element in dimensions
// `to`.
size_t offset_in(size_t offset, std::span<const int64_t> from, std::span<const int64_t> to) {
  size_t result = 0, stride = 1;
  for (size_t d = from.size(); d-- > 0;) {
    result += offset % static_cast<size_t>(from[d]) * stride;
    offset /= static_cast<size_t>(from[d]);
    stride *= static_cast<size_t>(to[d]);
  }
  return result;
}

Status max_unpool(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims dims, unpooled_dims(call));
  const auto indices = call.in(1).as<int64_t>();
  const auto limit = static_cast<int64_t>(element_count(dims));
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto x = call.in(0).as<T>();
    const auto y = call.out(0).as<T>();
    std::ranges::fill(y, T{0});
    for (size_t i = 0; i < x.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= limit)
        return invalid_argument(
            fmt::format("index {} is outside a tensor of {} elements", indices[i], limit));
      y[offset_in(static_cast<size_t>(indices[i]), dims, call.out(0).dims)] = x[i];
    }
    return {};
  });
}

// The geometry of Col2Im: the image, and the windows over it whose columns are the input [N, C *
// taps, positions].
struct Columns {
  SpatialWindow window;
  Dims image, positions;
};

Result<Columns> columns_of(const NodeView& node) {
  Columns columns;
  columns.image = integers_of(node.in(1));
  const Dims block = integers_of(node.in(2));
  if (columns.image.empty() || !std::ranges::all_of(columns.image, [](int64_t size) {
        return size >= 1 && size <= graph::kMaxElements;
      }))
    return invalid_argument("image_shape must be a list of positive sizes");
  MILLRACE_ASSIGN_OR_RETURN(columns.window, read_window(node, columns.image, block));
  MILLRACE_ASSIGN_OR_RETURN(columns.positions, positions_of(columns.window, columns.image));
  return columns;
}

Status shape_of_col2im(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(node.known_integers(1).status());
  MILLRACE_RETURN_IF_ERROR(node.known_integers(2).status());
  MILLRACE_ASSIGN_OR_RETURN(const Columns columns, columns_of(node));
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(columns.window.kernel));
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(columns.positions));
  const TensorView& x = node.in(0);
  const int64_t taps = columns.window.taps();
  if (x.rank() != 3 || x.dims[1] % taps != 0 ||
      static_cast<size_t>(x.dims[2]) != element_count(columns.positions))
    return invalid_argument(fmt::format("its input is {}, not [N, C * {}, {}]",
                                        graph::to_string(to_dims(x.dims)), taps,
                                        element_count(columns.positions)));
  Dims dims = {x.dims[0], x.dims[1] / taps};
  dims.insert(dims.end(), columns.image.begin(), columns.image.end());
  node.set(0, x.type, std::move(dims));
  return {};
}

Status col2im(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Columns columns, columns_of(call));
  const WindowWalk walk(columns.window, columns.positions, columns.image);
  const auto taps = static_cast<size_t>(columns.window.taps());
  const size_t stride = walk.row_stride(), planes = planes_of(TensorView{{}, call.out(0).dims, {}});
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::ranges::fill(call.out(0).as<T>(), T{0});
    for (size_t line = 0; line < planes * taps; ++line) {
      const T* const from = call.in(0).as<T>().data() + line * walk.dense_size();
      T* const to = call.out(0).as<T>().data() + line / taps * walk.strided_size();
      walk.for_each_row(line % taps, [&](size_t dense, size_t strided, size_t count) {
        for (size_t i = 0; i < count; ++i) {
          T& target = to[strided + i * stride];
          target = reference::Add{}(target, from[dense + i]);
        }
      });
    }
    return {};
  });
}

constexpr AttributeSpec kMaxPool[] = {
    {"auto_pad", AttributeKind::kText},      {"ceil_mode", AttributeKind::kInteger},
    {"dilations", AttributeKind::kIntegers}, {"kernel_shape", AttributeKind::kIntegers},
    {"pads", AttributeKind::kIntegers},      {"storage_order", AttributeKind::kInteger},
    {"strides", AttributeKind::kIntegers}};
constexpr AttributeSpec kAveragePool[] = {{"auto_pad", AttributeKind::kText},
                                          {"ceil_mode", AttributeKind::kInteger},
                                          {"count_include_pad", AttributeKind::kInteger},
                                          {"dilations", AttributeKind::kIntegers},
                                          {"kernel_shape", AttributeKind::kIntegers},
                                          {"pads", AttributeKind::kIntegers},
                                          {"strides", AttributeKind::kIntegers}};
constexpr AttributeSpec kLpPool[] = {
    {"auto_pad", AttributeKind::kText},      {"ceil_mode", AttributeKind::kInteger},
    {"dilations", AttributeKind::kIntegers}, {"kernel_shape", AttributeKind::kIntegers},
    {"p", AttributeKind::kInteger},          {"pads", AttributeKind::kIntegers},
    {"strides", AttributeKind::kIntegers}};
constexpr AttributeSpec kGlobalLpPool[] = {{"p", AttributeKind::kInteger}};
constexpr AttributeSpec kMaxUnpool[] = {{"kernel_shape", AttributeKind::kIntegers},
                                        {"pads", AttributeKind::kIntegers},
                                        {"strides", AttributeKind::kIntegers}};
constexpr AttributeSpec kCol2Im[] = {{"dilations", AttributeKind::kIntegers},
                                     {"pads", AttributeKind::kIntegers},
                                     {"strides", AttributeKind::kIntegers}};

}  // namespace

std::span<const OperatorSpec> pooling_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"AveragePool", 1, {}, {}, kReals, shape_of_pool, average_pool, kAveragePool},
      {"Col2Im", 18, {3, 3}, {}, kNumbers, shape_of_col2im, col2im, kCol2Im},
      {"GlobalLpPool", 2, {}, {}, kReals, shape_of_global_lp_pool, global_lp_pool, kGlobalLpPool},
      {"LpPool", 2, {}, {}, kReals, shape_of_lp_pool, lp_pool, kLpPool},
      {"MaxPool", 1, {}, {1, 2}, kNumbers, shape_of_pool, max_pool, kMaxPool},
      {"MaxUnpool", 9, {2, 3}, {}, kReals, shape_of_max_unpool, max_unpool, kMaxUnpool},
  };
  return kOperators;
}

}  // namespace millrace::fallback
