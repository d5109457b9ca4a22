// DeformConv (deformable convolution, v2 with a mask): taps are moved by offsets and weighted by a
// mask, which other tensors state for each position. The input is resampled bilinearly into columns
// (im2col) for each sample, followed by a matrix product with the weights, in double.
#include <algorithm>
#include <array>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/window.h"

namespace millrace::fallback {
namespace {

constexpr size_t kX = 0, kWeights = 1, kOffset = 2, kBias = 3, kMask = 4;

// The sizes of x [N, C, H, W] and weights [M, C / groups, kH, kW].
struct Extents {
  SpatialWindow window;
  Dims positions;
  size_t batch, channels, outputs, groups, offset_groups;

  size_t taps() const { return static_cast<size_t>(window.taps()); }
  size_t points() const { return element_count(positions); }
};

// Reads an attribute that must be positive and divide `of`, which may be 0.
Result<size_t> divisor(const NodeView& node, const char* name, int64_t of) {
  const int64_t value = node.integer(name, 1);
  if (value >= 1 && value <= std::max<int64_t>(of, 1) && of % value == 0)
    return static_cast<size_t>(value);
  return invalid_argument(std::string(name) + " does not divide the channels");
}

Result<Extents> extents_of(const NodeView& node) {
  const TensorView &x = node.in(kX), &weights = node.in(kWeights);
  if (x.rank() != 4 || weights.rank() != 4)
    return unsupported("DeformConv is supported for two spatial dimensions only");
  Extents extents{};
  MILLRACE_ASSIGN_OR_RETURN(extents.window,
                            read_window(node, x.dims.subspan(2), to_dims(weights.dims.subspan(2))));
  MILLRACE_ASSIGN_OR_RETURN(extents.positions, positions_of(extents.window, x.dims.subspan(2)));
  MILLRACE_ASSIGN_OR_RETURN(extents.groups, divisor(node, "group", x.dims[1]));
  MILLRACE_ASSIGN_OR_RETURN(extents.offset_groups, divisor(node, "offset_group", x.dims[1]));
  // Weights without elements may claim a kernel of any size, and the shapes of offset and mask are
  // computed from it.
  const auto& kernel = extents.window.kernel;
  MILLRACE_RETURN_IF_ERROR(
      graph::check_shape({2, static_cast<int64_t>(extents.offset_groups), kernel[0], kernel[1]}));
  extents.batch = static_cast<size_t>(x.dims[0]);
  extents.channels = static_cast<size_t>(x.dims[1]);
  extents.outputs = static_cast<size_t>(weights.dims[0]);
  if (static_cast<size_t>(weights.dims[1]) * extents.groups != extents.channels ||
      extents.outputs % extents.groups != 0)
    return invalid_argument("the weights do not fit the channels and groups");
  return extents;
}

Status check_dims(const NodeView& node, size_t index, const Dims& wanted) {
  if (!node.has(index)) return {};
  if (node.in(index).type == node.in(kX).type && to_dims(node.in(index).dims) == wanted) return {};
  return invalid_argument("offset, bias or mask does not have the type of the input or the shape " +
                          graph::to_string(wanted));
}

Status shape_of_deform_conv(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const Extents extents, extents_of(node));
  const auto batch = static_cast<int64_t>(extents.batch);
  const int64_t rows = extents.positions[0], columns = extents.positions[1];
  const auto taps = static_cast<int64_t>(extents.offset_groups * extents.taps());
  const auto outputs = static_cast<int64_t>(extents.outputs);
  MILLRACE_RETURN_IF_ERROR(check_dims(node, kOffset, {batch, 2 * taps, rows, columns}));
  MILLRACE_RETURN_IF_ERROR(check_dims(node, kBias, {outputs}));
  MILLRACE_RETURN_IF_ERROR(check_dims(node, kMask, {batch, taps, rows, columns}));
  node.set(0, node.in(kX).type, {batch, outputs, rows, columns});
  return {};
}

// Bilinear interpolation of an image at real coordinates; elements outside of it are 0.
template <class T>
double element_at(const T* plane, int64_t height, int64_t width, double y, double x) {
  // Written so that NaN returns 0.
  if (!(y > -1 && x > -1 && y < static_cast<double>(height) && x < static_cast<double>(width)))
    return 0;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const double down = y - static_cast<double>(top), right = x - static_cast<double>(left);
  const auto element = [&](int64_t row, int64_t column) -> double {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? static_cast<double>(plane[row * width + column]) : 0;
  };
  return (1 - down) * ((1 - right) * element(top, left) + right * element(top, left + 1)) +
         down * ((1 - right) * element(top + 1, left) + right * element(top + 1, left + 1));
}

// im2col: the resampled input of one sample as a matrix, with a row for each channel and tap and a
// column for each position.
template <class T>
void gather_columns(const Call& call, const Extents& extents, size_t sample,
                    std::vector<double>& columns) {
  const int64_t height = call.in(kX).dims[2], width = call.in(kX).dims[3];
  const size_t points = extents.points(), taps = extents.taps();
  const auto kernel_width = static_cast<size_t>(extents.window.kernel[1]);
  const T* const x = call.in(kX).as<T>().data();
  const T* const offset = call.in(kOffset).as<T>().data();
  const T* const mask = call.has(kMask) ? call.in(kMask).as<T>().data() : nullptr;
  double* to = columns.data();
  for (size_t channel = 0; channel < extents.channels; ++channel) {
    const T* const plane =
        x + (sample * extents.channels + channel) * static_cast<size_t>(height * width);
    const size_t group = channel / (extents.channels / extents.offset_groups);
    for (size_t tap = 0; tap < taps; ++tap) {
      const size_t moved = ((sample * extents.offset_groups + group) * taps + tap) * points;
      const auto tap_row = static_cast<int64_t>(tap / kernel_width);
      const auto tap_column = static_cast<int64_t>(tap % kernel_width);
      for (size_t point = 0; point < points; ++point) {
        const auto position = static_cast<int64_t>(point);
        const auto at = [&](size_t d, int64_t index, int64_t of_tap) {
          return static_cast<double>(index * extents.window.strides[d] -
                                     extents.window.pads_begin[d] +
                                     of_tap * extents.window.dilations[d]);
        };
        const double row =
            at(0, position / extents.positions[1], tap_row) + offset[2 * moved + point];
        const double column =
            at(1, position % extents.positions[1], tap_column) + offset[2 * moved + points + point];
        const double factor = mask == nullptr ? 1 : mask[moved + point];
        *to++ = factor * element_at(plane, height, width, row, column);
      }
    }
  }
}

template <class T>
void convolve_columns(const Call& call, const Extents& extents, size_t sample,
                      const std::vector<double>& columns) {
  const size_t points = extents.points();
  const size_t depth = extents.channels / extents.groups * extents.taps();
  std::vector<double> sums(points);
  for (size_t output = 0; output < extents.outputs; ++output) {
    const size_t group = output / (extents.outputs / extents.groups);
    const T* const weights = call.in(kWeights).as<T>().data() + output * depth;
    const double bias = call.has(kBias) ? static_cast<double>(call.in(kBias).as<T>()[output]) : 0;
    std::ranges::fill(sums, bias);
    for (size_t k = 0; k < depth; ++k) {
      const double* const row = columns.data() + (group * depth + k) * points;
      for (size_t point = 0; point < points; ++point) sums[point] += weights[k] * row[point];
    }
    T* const to = call.out(0).as<T>().data() + (sample * extents.outputs + output) * points;
    std::ranges::transform(sums, to, [](double sum) { return static_cast<T>(sum); });
  }
}

Status deform_conv(const Call& call) {
  if (call.out(0).elements() == 0) return {};
  MILLRACE_ASSIGN_OR_RETURN(const Extents extents, extents_of(call));
  return visit_floating(call.in(kX).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<double> columns(extents.channels * extents.taps() * extents.points());
    for (size_t sample = 0; sample < extents.batch; ++sample) {
      gather_columns<T>(call, extents, sample, columns);
      convolve_columns<T>(call, extents, sample, columns);
    }
    return {};
  });
}

constexpr AttributeSpec kDeformConv[] = {
    {"dilations", AttributeKind::kIntegers},    {"group", AttributeKind::kInteger},
    {"kernel_shape", AttributeKind::kIntegers}, {"offset_group", AttributeKind::kInteger},
    {"pads", AttributeKind::kIntegers},         {"strides", AttributeKind::kIntegers}};

}  // namespace

std::span<const OperatorSpec> deform_conv_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"DeformConv", 19, {3, 5}, {}, kReals, shape_of_deform_conv, deform_conv, kDeformConv},
  };
  return kOperators;
}

}  // namespace millrace::fallback
