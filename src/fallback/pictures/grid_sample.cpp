// GridSample, which resamples a tensor at normalised coordinates that another tensor states, and
// AffineGrid, which computes such coordinates by an affine transformation. GridSample computes for
// each point the taps and weights of every dimension; the result is the weighted sum over their
// product, in double.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

enum class Sampling : uint8_t { kNearest, kLinear, kCubic };
enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Method {
  Sampling sampling = Sampling::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

Result<Method> method_of(const NodeView& node) {
  Method method;
  const std::string mode = node.text("mode", "linear"),
                    padding = node.text("padding_mode", "zeros");
  if (mode == "nearest")
    method.sampling = Sampling::kNearest;
  else if (mode == "cubic" || mode == "bicubic")  // operator sets 20 and 16
    method.sampling = Sampling::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    return invalid_argument(fmt::format("unknown mode '{}'", mode));
  if (padding == "border")
    method.padding = Padding::kBorder;
  else if (padding == "reflection")
    method.padding = Padding::kReflection;
  else if (padding != "zeros")
    return invalid_argument(fmt::format("unknown padding_mode '{}'", padding));
  method.align_corners = node.integer("align_corners") != 0;
  return method;
}

// One dimension of the input: its size, and the coordinates to which -1 and 1 are mapped.
struct Axis {
  int64_t size;
  double low, high;

  Axis(int64_t dim, bool align_corners)
      : size(dim),
        low(align_corners ? 0 : -0.5),
        high(static_cast<double>(dim) - (align_corners ? 1 : 0.5)) {}
};

// Maps normalised coordinates, from -1 to 1, to coordinates of input elements. Coordinates that are
// too large for an index are clamped, and NaN becomes a coordinate outside.
double source_of(const Axis& axis, double normalised) {
  constexpr double kFar = 1e9;
  const double source = axis.low + (normalised + 1) / 2 * (axis.high - axis.low);
  return std::isnan(source) ? -kFar : std::clamp(source, -kFar, kFar);
}

double reflected(const Axis& axis, double x) {
  const double extent = axis.high - axis.low;
  if (x >= axis.low && x <= axis.high) return x;
  if (extent <= 0) return axis.low;
  const double distance = std::fmod(std::fabs(x - axis.low), 2 * extent);
  return distance <= extent ? axis.low + distance : axis.high - (distance - extent);
}

// Applies the padding mode to an index; -1 stands for a zero.
int64_t padded_index(const Method& method, const Axis& axis, int64_t index) {
  if (index >= 0 && index < axis.size) return index;
  if (method.padding == Padding::kZeros) return -1;
  if (method.padding == Padding::kReflection)
    index = static_cast<int64_t>(std::rint(reflected(axis, static_cast<double>(index))));
  return std::clamp<int64_t>(index, 0, axis.size - 1);
}

// The elements of one dimension that contribute at a coordinate, with their weights.
struct Taps {
  size_t count = 0;
  std::array<int64_t, 4> indices{};
  std::array<double, 4> weights{};

  void add(int64_t index, double weight) {
    indices[count] = index;
    weights[count++] = weight;
  }
};

// Cubic convolution kernel (Keys, 1981) with a = -0.75.
double cubic_weight(double x) {
  constexpr double kA = -0.75;
  x = std::fabs(x);
  if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

// Applies the padding mode to a coordinate. Cubic filters pad their neighbours one by one instead,
// as in PyTorch.
double padded_source(const Method& method, const Axis& axis, double x) {
  if (method.sampling == Sampling::kCubic) return x;
  if (x >= axis.low && x <= axis.high) return x;
  if (method.padding == Padding::kBorder)
    return std::clamp(x, 0.0, static_cast<double>(axis.size - 1));
  return method.padding == Padding::kReflection ? reflected(axis, x) : x;
}

Taps taps_of(const Method& method, const Axis& axis, double normalised) {
  double x = source_of(axis, normalised);
  // Rounds to nearest, ties to even, as in ONNX and ONNX Runtime; PyTorch rounds ties away from
  // zero for three spatial dimensions.
  if (method.sampling == Sampling::kNearest) x = std::rint(x);
  x = padded_source(method, axis, x);
  Taps taps;
  const auto add = [&](int64_t index, double weight) {
    taps.add(padded_index(method, axis, index), weight);
  };
  if (method.sampling == Sampling::kNearest) {
    add(static_cast<int64_t>(std::rint(x)), 1);
    return taps;
  }
  const double floor = std::floor(x), ratio = x - floor;
  const auto base = static_cast<int64_t>(floor);
  if (method.sampling == Sampling::kLinear) {
    add(base, 1 - ratio);
    add(base + 1, ratio);
    return taps;
  }
  for (int64_t i = -1; i <= 2; ++i) add(base + i, cubic_weight(ratio - static_cast<double>(i)));
  return taps;
}

// Computes the weighted sum over the product of the taps of all dimensions, recursively.
template <class T>
double weighted_sum(const T* plane, std::span<const Axis> axes, std::span<const Taps> taps,
                    size_t offset = 0) {
  double sum = 0;
  for (size_t i = 0; i < taps[0].count; ++i) {
    if (taps[0].indices[i] < 0) continue;
    const size_t at =
        offset * static_cast<size_t>(axes[0].size) + static_cast<size_t>(taps[0].indices[i]);
    const double element = taps.size() == 1
                               ? static_cast<double>(plane[at])
                               : weighted_sum(plane, axes.subspan(1), taps.subspan(1), at);
    sum += taps[0].weights[i] * element;
  }
  return sum;
}

// Operands: x [N, C, ...] and grid [N, ..., number of spatial dimensions].
Status shape_of_grid_sample(Inference& node) {
  const TensorView &x = node.in(0), &grid = node.in(1);
  MILLRACE_RETURN_IF_ERROR(method_of(node).status());
  if (!kReals.contains(grid.type))
    return invalid_argument("the grid must have a floating-point type");
  const bool fits = x.rank() >= 3 && grid.rank() == x.rank() && grid.dims[0] == x.dims[0] &&
                    grid.dims.back() == static_cast<int64_t>(x.rank() - 2);
  if (!fits)
    return invalid_argument(fmt::format("the grid {} does not fit the input {}",
                                        graph::to_string(to_dims(grid.dims)),
                                        graph::to_string(to_dims(x.dims))));
  Dims dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  if (element_count(x.dims) == 0 && element_count(dims) != 0)
    return invalid_argument("its input is empty");
  node.set(0, x.type, std::move(dims));
  return {};
}

template <class T, class G>
void grid_sample_of(const Call& call, const Method& method) {
  const TensorView& x = call.in(0);
  std::vector<Axis> axes;
  for (const int64_t dim : x.dims.subspan(2)) axes.emplace_back(dim, method.align_corners);
  const auto channels = static_cast<size_t>(x.dims[1]);
  const size_t plane = element_count(x.dims.subspan(2));
  const size_t points = element_count(call.out(0).dims.subspan(2));
  const auto batches = static_cast<size_t>(x.dims[0]);
  const G* coordinates = call.in(1).as<G>().data();
  std::vector<Taps> taps(axes.size());
  for (size_t n = 0; n < batches; ++n) {
    for (size_t point = 0; point < points; ++point, coordinates += axes.size()) {
      // Coordinates are in the order x, y, z: that of the last dimension comes first.
      for (size_t d = 0; d < axes.size(); ++d)
        taps[d] = taps_of(method, axes[d], coordinates[axes.size() - 1 - d]);
      for (size_t c = n * channels; c < (n + 1) * channels; ++c)
        call.out(0).as<T>()[c * points + point] =
            static_cast<T>(weighted_sum(x.as<T>().data() + c * plane, std::span(axes), taps));
    }
  }
}

Status grid_sample(const Call& call) {
  if (call.out(0).elements() == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(const Method method, method_of(call));
  return visit_floating(call.in(0).type, [&](auto zero) {
    return visit_floating(call.in(1).type, [&](auto coordinate) -> Status {
      grid_sample_of<decltype(zero), decltype(coordinate)>(call, method);
      return {};
    });
  });
}

// Operands: theta [N, k, k + 1], and size: N, C and the k spatial dimensions. Output: [N, ..., k].
Status shape_of_affine_grid(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims size, node.known_integers(1));
  const TensorView& theta = node.in(0);
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (rank != 2 && rank != 3) return invalid_argument("size must have 4 or 5 entries");
  if (to_dims(theta.dims) != Dims{size[0], rank, rank + 1})
    return invalid_argument(fmt::format("theta {} does not fit size {}",
                                        graph::to_string(to_dims(theta.dims)),
                                        graph::to_string(size)));
  Dims dims = {size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(rank);
  node.set(0, theta.type, std::move(dims));
  return {};
}

// Returns the normalised coordinate, from -1 to 1, of element `index` of `size`.
double normalised_position(int64_t index, int64_t size, bool align_corners) {
  const auto x = static_cast<double>(index), extent = static_cast<double>(size);
  if (!align_corners) return (2 * x + 1) / extent - 1;
  return size == 1 ? 0 : 2 * x / (extent - 1) - 1;
}

// Returns the homogeneous coordinates of a point, in the order x, y, z, followed by 1.
std::vector<double> position_of(size_t point, std::span<const int64_t> spatial,
                                bool align_corners) {
  std::vector<double> position;
  for (size_t d = spatial.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(spatial[d]);
    position.push_back(
        normalised_position(static_cast<int64_t>(point % size), spatial[d], align_corners));
    point /= size;
  }
  position.push_back(1);
  return position;
}

Status affine_grid(const Call& call) {
  const auto dims = call.out(0).dims;
  const auto spatial = dims.subspan(1, dims.size() - 2);
  const size_t rank = spatial.size(), points = element_count(spatial);
  const bool align_corners = call.integer("align_corners") != 0;
  return visit_floating(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const auto theta = call.in(0).as<T>();
    const auto to = call.out(0).as<T>();
    for (size_t i = 0; i < to.size(); i += rank) {
      const auto position = position_of(i / rank % points, spatial, align_corners);
      const auto matrix = theta.subspan(i / rank / points * rank * (rank + 1), rank * (rank + 1));
      for (size_t row = 0; row < rank; ++row) {
        double sum = 0;
        for (size_t k = 0; k <= rank; ++k) sum += matrix[row * (rank + 1) + k] * position[k];
        to[i + row] = static_cast<T>(sum);
      }
    }
    return {};
  });
}

constexpr AttributeSpec kAffineGrid[] = {{"align_corners", AttributeKind::kInteger}};
constexpr AttributeSpec kGridSample[] = {{"align_corners", AttributeKind::kInteger},
                                         {"mode", AttributeKind::kText},
                                         {"padding_mode", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> grid_sample_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"AffineGrid", 20, {2, 2}, {}, kReals, shape_of_affine_grid, affine_grid, kAffineGrid},
      {"GridSample", 16, {2, 2}, {}, kReals, shape_of_grid_sample, grid_sample, kGridSample},
  };
  return kOperators;
}

}  // namespace millrace::fallback
