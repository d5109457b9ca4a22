// Resize, and the earlier Upsample, with all options. Dimensions are resampled one after another
// (separable filters): a table holds, for each output index, the input indices (taps) that
// contribute to it and their weights. Coordinates are exact fractions (graph/resampling.h).
// Interpolation is in double; nearest neighbours are copied without it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "graph/reference/index_offsets.h"
#include "graph/resampling.h"

namespace millrace::fallback {
namespace {

using graph::Fraction;
using graph::Position;

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;

// One dimension: its sizes before and after, the scale, and the region of interest.
struct Axis {
  int64_t from = 1, to = 1;
  Fraction scale;
  double roi_begin = 0, roi_end = 1;

  bool has_scale() const { return scale.numerator != scale.denominator; }
  bool resized() const { return from != to || has_scale() || roi_begin != 0 || roi_end != 1; }
  // The size after resizing, before rounding.
  double length() const { return static_cast<double>(from) * scale.value(); }
  bool has_length_of_one() const {
    return static_cast<__int128>(from) * scale.numerator == scale.denominator;
  }
};

// Whether the node has the form before opset 11, with scales only, as the second input or an
// attribute.
bool is_early(const NodeView& node) {
  return node.input_count() <= 2;
}

bool is_given(const NodeView& node, size_t index) {
  return node.has(index) && node.in(index).elements() > 0;
}

// Returns the dimensions to which roi, scales and sizes apply.
Result<std::vector<size_t>> resized_axes(const NodeView& node) {
  std::vector<size_t> axes;
  const Dims* stated = node.integers("axes");
  for (size_t i = 0; stated == nullptr ? i < node.in(0).rank() : i < stated->size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(
        const size_t axis,
        graph::normalise_axis(stated == nullptr ? static_cast<int64_t>(i) : (*stated)[i],
                              node.in(0).rank()));
    axes.push_back(axis);
  }
  return axes;
}

Status check_count(const char* what, size_t count, size_t wanted) {
  if (count == wanted) return {};
  return invalid_argument(fmt::format("{} {}; expected {}", count, what, wanted));
}

Status check_scale(const Axis& axis, double scale) {
  const double length = static_cast<double>(axis.from) * scale;
  if (std::isfinite(scale) && scale > 0 && length <= static_cast<double>(graph::kMaxElements))
    return {};
  return invalid_argument(
      fmt::format("scale {} is not valid for a dimension of {}", scale, axis.from));
}

Status apply_scales(const std::vector<double>& scales, const std::vector<size_t>& axes,
                    std::vector<Axis>& result) {
  MILLRACE_RETURN_IF_ERROR(check_count("scales", scales.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = result[axes[i]];
    MILLRACE_RETURN_IF_ERROR(check_scale(axis, scales[i]));
    axis.scale = graph::fraction_of(scales[i]);
    axis.to = graph::scaled_size(axis.from, axis.scale);
  }
  return {};
}

void apply_size(Axis& axis, int64_t size) {
  axis.to = size;
  if (size > 0 && axis.from > 0) axis.scale = {size, axis.from};
}

bool is_less(Fraction a, Fraction b) {
  return static_cast<__int128>(a.numerator) * b.denominator <
         static_cast<__int128>(b.numerator) * a.denominator;
}

// Returns the size times the scale, rounded to the nearest integer, halves up.
int64_t rounded_size(int64_t size, Fraction scale) {
  return graph::nearest_index(
      graph::NearestMode::kRoundPreferCeil,
      graph::asymmetric_position({scale.denominator, scale.numerator}, size));
}

// Applies the largest common scale with which no dimension exceeds its size, or the smallest with
// which all reach it (keep_aspect_ratio_policy).
Status keep_aspect_ratio(bool within, const Dims& sizes, const std::vector<size_t>& axes,
                         std::vector<Axis>& result) {
  Fraction scale{within ? std::numeric_limits<int64_t>::max() : 0, 1};
  for (size_t i = 0; i < axes.size(); ++i) {
    const Fraction own{sizes[i], std::max<int64_t>(result[axes[i]].from, 1)};
    if (is_less(own, scale) == within) scale = own;
  }
  for (const size_t d : axes) {
    MILLRACE_RETURN_IF_ERROR(check_scale(result[d], scale.value()));
    result[d].scale = scale;
    result[d].to = rounded_size(result[d].from, scale);
  }
  return {};
}

Status apply_sizes(const NodeView& node, const Dims& sizes, const std::vector<size_t>& axes,
                   std::vector<Axis>& result) {
  MILLRACE_RETURN_IF_ERROR(check_count("sizes", sizes.size(), axes.size()));
  for (const int64_t size : sizes)
    if (size < 0 || size > graph::kMaxElements)
      return invalid_argument(fmt::format("size {} is out of range", size));
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller")
    return keep_aspect_ratio(policy == "not_larger", sizes, axes, result);
  if (policy != "stretch")
    return invalid_argument(fmt::format("unknown keep_aspect_ratio_policy '{}'", policy));
  for (size_t i = 0; i < axes.size(); ++i) apply_size(result[axes[i]], sizes[i]);
  return {};
}

// Returns the scales of a node in the form before opset 11.
Result<std::vector<double>> early_scales(const NodeView& node) {
  if (node.has(1)) return reals_of(node.in(1));
  // In the first operator set there is one scale each for height and width of an image.
  if (node.has_attribute("height_scale") && node.in(0).rank() == 4)
    return std::vector<double>{1, 1, node.real("height_scale"), node.real("width_scale")};
  const std::vector<float>* scales = node.reals("scales");
  if (scales == nullptr) return invalid_argument("it has no scales");
  return std::vector<double>(scales->begin(), scales->end());
}

Status apply_roi(const NodeView& node, const std::vector<size_t>& axes, std::vector<Axis>& result) {
  if (node.text("coordinate_transformation_mode") != "tf_crop_and_resize") return {};
  if (!is_given(node, kRoi)) return invalid_argument("tf_crop_and_resize needs a roi");
  const std::vector<double> roi = reals_of(node.in(kRoi));
  MILLRACE_RETURN_IF_ERROR(check_count("numbers of a roi", roi.size(), 2 * axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    result[axes[i]].roi_begin = roi[i];
    result[axes[i]].roi_end = roi[axes.size() + i];
  }
  return {};
}

// Requirement: the elements of roi, scales and sizes are known.
Result<std::vector<Axis>> axes_of(const NodeView& node) {
  std::vector<Axis> result;
  for (const int64_t dim : node.in(0).dims) {
    Axis& axis = result.emplace_back();
    axis.from = axis.to = dim;
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<size_t> axes, resized_axes(node));
  if (is_early(node)) {
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<double> scales, early_scales(node));
    MILLRACE_RETURN_IF_ERROR(apply_scales(scales, axes, result));
  } else if (is_given(node, kSizes)) {
    MILLRACE_RETURN_IF_ERROR(apply_sizes(node, integers_of(node.in(kSizes)), axes, result));
  } else if (is_given(node, kScales)) {
    MILLRACE_RETURN_IF_ERROR(apply_scales(reals_of(node.in(kScales)), axes, result));
  } else {
    return invalid_argument("it has neither scales nor sizes");
  }
  MILLRACE_RETURN_IF_ERROR(apply_roi(node, axes, result));
  for (const Axis& axis : result)
    if (axis.from == 0 && axis.to != 0)
      return invalid_argument("an empty dimension cannot be enlarged");
  return result;
}

enum class Coordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixel,
  kTfCropAndResize,
};

Result<Coordinates> coordinates_of(const NodeView& node) {
  if (is_early(node)) return Coordinates::kAsymmetric;
  const std::string name = node.text("coordinate_transformation_mode", "half_pixel");
  if (name == "half_pixel") return Coordinates::kHalfPixel;
  if (name == "half_pixel_symmetric") return Coordinates::kHalfPixelSymmetric;
  if (name == "pytorch_half_pixel") return Coordinates::kPytorchHalfPixel;
  if (name == "align_corners") return Coordinates::kAlignCorners;
  if (name == "asymmetric") return Coordinates::kAsymmetric;
  if (name == "tf_half_pixel_for_nn") return Coordinates::kTfHalfPixel;
  if (name == "tf_crop_and_resize") return Coordinates::kTfCropAndResize;
  return invalid_argument(fmt::format("unknown coordinate_transformation_mode '{}'", name));
}

// tf_crop_and_resize. It is computed in floating point, since the region is floating-point, too.
Position cropped(const Axis& axis, int64_t index) {
  const double last = static_cast<double>(axis.from - 1);
  const double extent = (axis.roi_end - axis.roi_begin) * last;
  const double within = axis.has_length_of_one()
                            ? extent / 2
                            : static_cast<double>(index) * extent / (axis.length() - 1);
  const double source = axis.roi_begin * last + within;
  // All coordinates outside are equivalent: they give the extrapolation value.
  if (!(source >= 0 && source <= last)) return {-1, 0};
  const double below = std::floor(source);
  return {static_cast<int64_t>(below), source - below};
}

// half_pixel_symmetric: half_pixel plus from / 2 * (1 - to / length), which keeps the centre in
// place if the size was rounded.
Position symmetric_position(const Axis& axis, int64_t index) {
  const __int128 p = axis.scale.numerator, q = axis.scale.denominator;
  return graph::position_of(
      (2 * static_cast<__int128>(index) + 1) * q - p + axis.from * p - axis.to * q, 2 * p);
}

// tf_half_pixel_for_nn: (index + 1/2) / scale.
Position tf_half_pixel_position(Fraction scale, int64_t index) {
  return graph::position_of((2 * static_cast<__int128>(index) + 1) * scale.denominator,
                            2 * static_cast<__int128>(scale.numerator));
}

// Returns the position of output element `index` among the elements of the input.
Position source_of(Coordinates mode, const Axis& axis, int64_t index) {
  switch (mode) {
    case Coordinates::kHalfPixel:
      return graph::half_pixel_position(axis.scale, index);
    case Coordinates::kHalfPixelSymmetric:
      return symmetric_position(axis, index);
    case Coordinates::kPytorchHalfPixel:
      return axis.has_length_of_one() ? Position{} : graph::half_pixel_position(axis.scale, index);
    case Coordinates::kAlignCorners:
      return graph::aligned_position(axis.scale, axis.from, index);
    case Coordinates::kAsymmetric:
      return graph::asymmetric_position(axis.scale, index);
    case Coordinates::kTfHalfPixel:
      return tf_half_pixel_position(axis.scale, index);
    case Coordinates::kTfCropAndResize:
      return cropped(axis, index);
  }
  return {};
}

enum class Filter : uint8_t { kNearest, kLinear, kCubic };

Result<Filter> filter_of(const NodeView& node) {
  const std::string name = node.text("mode", "nearest");
  if (name == "nearest") return Filter::kNearest;
  if (name == "linear" || name == "bilinear") return Filter::kLinear;
  if (name == "cubic") return Filter::kCubic;
  return invalid_argument(fmt::format("unknown mode '{}'", name));
}

// The rule that rounds a coordinate between two elements. Early operator sets do not state one:
// here they round down if the dimension grows, and up if it shrinks.
using Rounding = std::optional<graph::NearestMode>;

Result<Rounding> rounding_of(const NodeView& node) {
  if (is_early(node)) return Rounding();
  const std::string name = node.text("nearest_mode", "round_prefer_floor");
  if (name == "round_prefer_floor") return Rounding(graph::NearestMode::kRoundPreferFloor);
  if (name == "round_prefer_ceil") return Rounding(graph::NearestMode::kRoundPreferCeil);
  if (name == "floor") return Rounding(graph::NearestMode::kFloor);
  if (name == "ceil") return Rounding(graph::NearestMode::kCeil);
  return invalid_argument(fmt::format("unknown nearest_mode '{}'", name));
}

struct Method {
  Coordinates coordinates = Coordinates::kHalfPixel;
  Filter filter = Filter::kNearest;
  Rounding rounding;
  double cubic = -0.75;  // the parameter of the cubic filter
  bool antialias = false, exclude_outside = false;
};

Result<Method> method_of(const NodeView& node) {
  Method method;
  MILLRACE_ASSIGN_OR_RETURN(method.coordinates, coordinates_of(node));
  MILLRACE_ASSIGN_OR_RETURN(method.filter, filter_of(node));
  MILLRACE_ASSIGN_OR_RETURN(method.rounding, rounding_of(node));
  method.cubic = node.real("cubic_coeff_a", -0.75f);
  method.antialias = node.integer("antialias") != 0;
  method.exclude_outside = node.integer("exclude_outside") != 0;
  return method;
}

int64_t nearest_of(Rounding rounding, const Axis& axis, Position source) {
  const bool shrinks = axis.scale.numerator < axis.scale.denominator;
  return graph::nearest_index(
      rounding.value_or(shrinks ? graph::NearestMode::kCeil : graph::NearestMode::kFloor), source);
}

double linear_weight(double x) {
  return std::max(0.0, 1 - std::fabs(x));
}

// Cubic convolution kernel (Keys, 1981) with parameter a.
double cubic_weight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// The input elements that contribute to an output element: consecutive indices from `first` on.
// Indices beyond the ends stand for the element at the end.
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;  // empty: the output element lies outside of the region
};

// Returns the taps of a linear or cubic filter around element `base`, for a coordinate `ratio`
// after it. Antialiasing widens the filter by the inverse of the scale.
Taps filter_taps(const Method& method, const Axis& axis, int64_t base, double ratio) {
  const double reach = method.filter == Filter::kLinear ? 1 : 2;
  const double scale = method.antialias ? std::min(axis.scale.value(), 1.0) : 1;
  const auto start = static_cast<int64_t>(std::floor(-reach / scale)) + 1;
  Taps taps{base + start, {}};
  for (int64_t i = start; i < 2 - start; ++i) {
    const double distance = (static_cast<double>(i) - ratio) * scale;
    taps.weights.push_back(method.filter == Filter::kLinear ? linear_weight(distance)
                                                            : cubic_weight(distance, method.cubic));
  }
  return taps;
}

void exclude_outside(const Axis& axis, Taps& taps) {
  for (size_t i = 0; i < taps.weights.size(); ++i) {
    const int64_t at = taps.first + static_cast<int64_t>(i);
    if (at < 0 || at >= axis.from) taps.weights[i] = 0;
  }
}

void normalise(std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (sum == 0) return;
  for (double& weight : weights) weight /= sum;
}

Taps taps_of(const Method& method, const Axis& axis, int64_t index) {
  const Position source = source_of(method.coordinates, axis, index);
  if (method.coordinates == Coordinates::kTfCropAndResize && source.below < 0) return {};
  if (method.filter == Filter::kNearest) return {nearest_of(method.rounding, axis, source), {1}};
  // filter_taps() takes the element before the coordinate, at a distance of more than 0 and at most
  // 1.
  const bool between = source.rest > 0;
  Taps taps =
      filter_taps(method, axis, source.below - (between ? 0 : 1), between ? source.rest : 1);
  if (method.exclude_outside) exclude_outside(axis, taps);
  if (method.exclude_outside || method.antialias) normalise(taps.weights);
  return taps;
}

size_t clamped(int64_t index, const Axis& axis) {
  return static_cast<size_t>(std::clamp<int64_t>(index, 0, axis.from - 1));
}

// Returns the taps of all output indices. A dimension that is not resized keeps its elements,
// whatever the coordinates.
std::vector<Taps> table_of(const Method& method, const Axis& axis) {
  std::vector<Taps> table;
  table.reserve(static_cast<size_t>(axis.to));
  for (int64_t i = 0; i < axis.to; ++i)
    table.push_back(axis.resized() ? taps_of(method, axis, i) : Taps{i, {1}});
  return table;
}

std::vector<std::vector<Taps>> tables_of(const Method& method, std::span<const Axis> axes) {
  std::vector<std::vector<Taps>> tables;
  for (const Axis& axis : axes) tables.push_back(table_of(method, axis));
  return tables;
}

// A tensor of which some dimensions have been resampled.
struct Intermediate {
  Dims dims;
  std::vector<double> elements;
};

Intermediate resample(const Intermediate& from, size_t d, const Axis& axis,
                      const std::vector<Taps>& table, double outside) {
  Intermediate to{from.dims, {}};
  to.dims[d] = axis.to;
  to.elements.assign(element_count(to.dims), outside);
  const AxisSplit split(from.dims, d);
  double* row = to.elements.data();
  for (size_t outer = 0; outer < split.outer; ++outer) {
    const double* const plane = from.elements.data() + outer * split.size * split.inner;
    for (const Taps& taps : table) {
      if (!taps.weights.empty()) std::fill_n(row, split.inner, 0.0);
      for (size_t t = 0; t < taps.weights.size(); ++t) {
        const double weight = taps.weights[t];
        const double* const source =
            plane + clamped(taps.first + static_cast<int64_t>(t), axis) * split.inner;
        for (size_t i = 0; i < split.inner; ++i) row[i] += weight * source[i];
      }
      row += split.inner;
    }
  }
  return to;
}

// Converts to an element of T. For integers the value is truncated and saturated.
template <class T>
T to_element(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
    if (!(value > kLow)) return std::numeric_limits<T>::min();
    return value >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(value);
  }
}

// Returns the dimensions to resample, in ascending order of to / from, so that no intermediate
// tensor is larger than both the input and the output.
std::vector<size_t> resampling_order(std::span<const Axis> axes) {
  std::vector<size_t> order;
  for (size_t d = 0; d < axes.size(); ++d)
    if (axes[d].resized()) order.push_back(d);
  std::ranges::stable_sort(order, {}, [&](size_t d) {
    return static_cast<double>(axes[d].to) / static_cast<double>(axes[d].from);
  });
  return order;
}

// Resamples slice by slice: leading dimensions that are not resized, such as batch and channels,
// are iterated over.
template <class T>
void interpolate(const Call& call, const Method& method, std::span<const Axis> axes) {
  const auto first = static_cast<size_t>(std::ranges::find_if(axes, &Axis::resized) - axes.begin());
  const size_t slices = element_count(call.in(0).dims.first(first));
  const Dims dims = to_dims(call.in(0).dims.subspan(first));
  const auto tables = tables_of(method, axes.subspan(first));
  const auto order = resampling_order(axes.subspan(first));
  const size_t size = element_count(dims);
  const double outside = call.real("extrapolation_value");
  T* to = call.out(0).as<T>().data();
  for (size_t slice = 0; slice < slices; ++slice) {
    const auto x = call.in(0).as<T>().subspan(slice * size, size);
    Intermediate now{dims, std::vector<double>(x.begin(), x.end())};
    for (const size_t d : order) now = resample(now, d, axes[first + d], tables[d], outside);
    to = std::ranges::transform(now.elements, to, to_element<T>).out;
  }
}

// Copies each output element from its nearest input element.
template <class T>
void copy_nearest(const Call& call, const Method& method, std::span<const Axis> axes, T outside) {
  const auto tables = tables_of(method, axes);
  const Dims strides = reference::dense_strides(call.in(0).dims);
  reference::IndexOffsets offsets(axes.size());
  for (size_t d = 0; d < axes.size(); ++d)
    for (const Taps& taps : tables[d])
      offsets[d].push_back(taps.weights.empty()
                               ? reference::kFill
                               : static_cast<int64_t>(clamped(taps.first, axes[d])) * strides[d]);
  std::ranges::fill(call.out(0).as<T>(), outside);
  reference::copy_by_offsets(offsets, call.in(0).as<T>().data(), call.out(0).as<T>().data());
}

Status shape_of_resize(Inference& node) {
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (!is_given(node, i)) continue;
    const bool fits =
        i == kSizes ? kIndexTypes.contains(node.in(i).type) : kReals.contains(node.in(i).type);
    if (!fits) return invalid_argument(fmt::format("input {} has the wrong type", i));
    if (i == kRoi && !is_early(node) &&
        node.text("coordinate_transformation_mode") != "tf_crop_and_resize")
      continue;
    MILLRACE_RETURN_IF_ERROR(node.require_elements(i));
  }
  MILLRACE_RETURN_IF_ERROR(method_of(node).status());
  MILLRACE_ASSIGN_OR_RETURN(const Filter filter, filter_of(node));
  if (filter != Filter::kNearest && node.in(0).type == DataType::kBoolean)
    return unsupported("BOOLEANs cannot be interpolated");
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Axis> axes, axes_of(node));
  Dims dims;
  for (const Axis& axis : axes) dims.push_back(axis.to);
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

Status resize(const Call& call) {
  if (call.out(0).elements() == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(const Method method, method_of(call));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<Axis> axes, axes_of(call));
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (method.filter == Filter::kNearest)
      copy_nearest<T>(call, method, axes, to_element<T>(call.real("extrapolation_value")));
    else
      interpolate<T>(call, method, axes);
    return {};
  });
}

constexpr AttributeSpec kResize[] = {{"antialias", AttributeKind::kInteger},
                                     {"axes", AttributeKind::kIntegers},
                                     {"coordinate_transformation_mode", AttributeKind::kText},
                                     {"cubic_coeff_a", AttributeKind::kFloat},
                                     {"exclude_outside", AttributeKind::kInteger},
                                     {"extrapolation_value", AttributeKind::kFloat},
                                     {"keep_aspect_ratio_policy", AttributeKind::kText},
                                     {"mode", AttributeKind::kText},
                                     {"nearest_mode", AttributeKind::kText}};
constexpr AttributeSpec kUpsample[] = {{"height_scale", AttributeKind::kFloat},
                                       {"mode", AttributeKind::kText},
                                       {"scales", AttributeKind::kFloats},
                                       {"width_scale", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> resize_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Resize", 10, {1, 4}, {}, kAll, shape_of_resize, resize, kResize},
      {"Upsample", 1, {1, 2}, {}, kAll, shape_of_resize, resize, kUpsample},
  };
  return kOperators;
}

}  // namespace millrace::fallback
