// Handlers of Upsample (up to opset 9) and Resize (from opset 10 on). They cover nearest and linear
// interpolation; variants that graph::Resize does not have are kUnsupported and left to the
// fallback operator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/resampling.h"
#include "graph/shape.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::CoordinateMode;
using graph::Dims;
using graph::NearestMode;
using graph::ResizeMode;

// A coordinate mode for nearest only: x_original = (x_resized + 0.5) / scale.
constexpr const char* kTfHalfPixel = "tf_half_pixel_for_nn";

Status read_mode(NodeImport& node, graph::Resize* resize) {
  const std::string mode = node.string_attribute("mode", "nearest");
  if (mode == "nearest") {
    resize->mode = ResizeMode::kNearest;
  } else if (mode == "linear" || mode == "bilinear") {
    resize->mode = ResizeMode::kLinear;
  } else {
    return unsupported(fmt::format("mode is '{}'", mode));
  }
  return {};
}

Status read_coordinates(NodeImport& node, graph::Resize* resize) {
  const std::string mode = node.string_attribute("coordinate_transformation_mode", "half_pixel");
  if (mode == "half_pixel") {
    resize->coordinates = CoordinateMode::kHalfPixel;
  } else if (mode == "pytorch_half_pixel") {
    resize->coordinates = CoordinateMode::kPytorchHalfPixel;
  } else if (mode == "align_corners") {
    resize->coordinates = CoordinateMode::kAlignCorners;
  } else if (mode == "asymmetric" || mode == kTfHalfPixel) {
    resize->coordinates = CoordinateMode::kAsymmetric;
  } else {
    return unsupported(fmt::format("coordinate_transformation_mode is '{}'", mode));
  }
  return {};
}

Status read_nearest(NodeImport& node, graph::Resize* resize) {
  const std::string mode = node.string_attribute("nearest_mode", "round_prefer_floor");
  if (mode == "round_prefer_floor") {
    resize->nearest = NearestMode::kRoundPreferFloor;
  } else if (mode == "round_prefer_ceil") {
    resize->nearest = NearestMode::kRoundPreferCeil;
  } else if (mode == "floor") {
    resize->nearest = NearestMode::kFloor;
  } else if (mode == "ceil") {
    resize->nearest = NearestMode::kCeil;
  } else {
    return invalid_argument(fmt::format("nearest_mode '{}' is not in the standard", mode));
  }
  return {};
}

// Before opset 11, the nearest element is that at or below the coordinate (floor) if the image is
// enlarged, and that at or above it (ceil) if the image is reduced.
Status choose_old_nearest(graph::Resize* resize) {
  const auto& scales = resize->scales;
  const bool grows = std::ranges::any_of(scales, [](float scale) { return scale > 1; });
  const bool shrinks = std::ranges::any_of(scales, [](float scale) { return scale < 1; });
  if (grows && shrinks && resize->mode == ResizeMode::kNearest) {
    return unsupported("it enlarges one dimension and reduces another");
  }
  resize->nearest = shrinks ? NearestMode::kCeil : NearestMode::kFloor;
  return {};
}

Status check_later_attributes(NodeImport& node) {
  if (node.int_attribute("antialias", 0) != 0) return unsupported("antialias is set");
  const std::string policy = node.string_attribute("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") {
    return unsupported(fmt::format("keep_aspect_ratio_policy is '{}'", policy));
  }
  return {};
}

// Sets the shape of the output from the scales, of which there must be one per dimension.
Status shape_from_scales(const Dims& input, graph::Resize* resize) {
  if (resize->scales.size() != input.size()) {
    return invalid_argument(
        fmt::format("it has {} scales for {} dimensions", resize->scales.size(), input.size()));
  }
  for (size_t d = 0; d < input.size(); ++d) {
    const float scale = resize->scales[d];
    const bool fits = scale > 0 && static_cast<double>(input[d]) * scale <=
                                       static_cast<double>(graph::kMaxElements);
    const int64_t size = fits ? graph::scaled_size(input[d], graph::fraction_of(scale)) : 0;
    if (size < 1) {
      return invalid_argument(
          fmt::format("scale {} gives a dimension of {} an invalid size", scale, input[d]));
    }
    resize->shape.push_back(size);
  }
  return {};
}

// Refuses align_corners if size times scale is not an integer. The standard then aligns the last
// element of the input with the output size before rounding, which graph::Resize does not have.
Status check_whole_sizes(const Dims& input, const graph::Resize& resize) {
  if (resize.coordinates != CoordinateMode::kAlignCorners) return {};
  for (size_t d = 0; d < input.size(); ++d) {
    const double size = static_cast<double>(input[d]) * resize.scales[d];
    if (std::fabs(size - static_cast<double>(resize.shape[d])) > 1e-4)
      return unsupported("align_corners with an output size that is not an integer");
  }
  return {};
}

// Refuses tf_half_pixel_for_nn unless it equals the asymmetric mode: with integer scales and floor,
// x / scale and (x + 0.5) / scale are in the same element of the input.
Status check_half_pixel(NodeImport& node, const graph::Resize& resize) {
  if (node.string_attribute("coordinate_transformation_mode", "half_pixel") != kTfHalfPixel)
    return {};
  const auto is_whole = [](float scale) { return scale >= 1 && std::floor(scale) == scale; };
  const bool is_lower =
      resize.mode == ResizeMode::kNearest && resize.nearest == NearestMode::kFloor;
  if (is_lower && std::ranges::all_of(resize.scales, is_whole)) return {};
  return unsupported(
      fmt::format("{} is supported for integer scales with nearest_mode floor only", kTfHalfPixel));
}

Status shape_from_sizes(const Dims& input, const Dims& sizes, graph::Resize* resize) {
  if (sizes.size() != input.size()) {
    return invalid_argument(
        fmt::format("it has {} sizes for {} dimensions", sizes.size(), input.size()));
  }
  resize->shape = sizes;
  for (size_t d = 0; d < input.size(); ++d) {
    resize->scales.push_back(static_cast<float>(sizes[d]) / static_cast<float>(input[d]));
  }
  return {};
}

// Returns one entry per dimension. If the node states `axes` (from opset 18 on), the entries are
// for these, and the others are those of `all`.
template <class T>
Result<std::vector<T>> spread(NodeImport& node, const std::vector<T>& entries, std::vector<T> all) {
  const auto axes = node.opset() >= 18 ? node.ints_attribute("axes") : std::nullopt;
  if (!axes) return entries;
  if (axes->size() != entries.size()) {
    return invalid_argument(
        fmt::format("it has {} axes for {} scales or sizes", axes->size(), entries.size()));
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    MILLRACE_ASSIGN_OR_RETURN(const size_t d, normalise_axis((*axes)[i], all.size()));
    all[d] = entries[i];
  }
  return all;
}

bool is_given(const NodeImport& node, size_t index) {
  return node.has(index) && node.value(index).elements() > 0;
}

// Reads scales or sizes. The operands are x, roi, scales, sizes; one of the last two is given, and
// the other is absent or empty.
Status read_target(NodeImport& node, graph::Resize* resize) {
  const Dims& input = node.shape(0);
  if (is_given(node, 3)) {
    MILLRACE_ASSIGN_OR_RETURN(const Dims entries, node.constant_ints(3));
    MILLRACE_ASSIGN_OR_RETURN(const Dims sizes, spread(node, entries, input));
    return shape_from_sizes(input, sizes, resize);
  }
  if (!is_given(node, 2)) return invalid_argument("it has neither scales nor sizes");
  MILLRACE_ASSIGN_OR_RETURN(const auto entries, node.constant_floats(2));
  MILLRACE_ASSIGN_OR_RETURN(resize->scales,
                            spread(node, entries, std::vector<float>(input.size(), 1.0f)));
  MILLRACE_RETURN_IF_ERROR(shape_from_scales(input, resize));
  return check_whole_sizes(input, *resize);
}

// Upsample and Resize up to opset 10 have scales only, and asymmetric coordinates.
Result<ValueId> import_old(NodeImport& node, std::vector<float> scales) {
  graph::Resize resize;
  MILLRACE_RETURN_IF_ERROR(read_mode(node, &resize));
  resize.coordinates = CoordinateMode::kAsymmetric;
  resize.scales = std::move(scales);
  MILLRACE_RETURN_IF_ERROR(shape_from_scales(node.shape(0), &resize));
  MILLRACE_RETURN_IF_ERROR(choose_old_nearest(&resize));
  return node.emit(std::move(resize), {node.operand(0)});
}

}  // namespace

Result<ValueId> import_upsample(NodeImport& node) {
  if (node.opset() < 9) {
    return import_old(node, node.floats_attribute("scales").value_or(std::vector<float>()));
  }
  if (!node.has(1)) return invalid_argument("it has no scales");
  MILLRACE_ASSIGN_OR_RETURN(auto scales, node.constant_floats(1));
  return import_old(node, std::move(scales));
}

Result<ValueId> import_resize(NodeImport& node) {
  if (node.opset() < 11) {
    if (!node.has(1)) return invalid_argument("it has no scales");
    MILLRACE_ASSIGN_OR_RETURN(auto scales, node.constant_floats(1));
    return import_old(node, std::move(scales));
  }
  graph::Resize resize;
  MILLRACE_RETURN_IF_ERROR(read_mode(node, &resize));
  MILLRACE_RETURN_IF_ERROR(read_coordinates(node, &resize));
  MILLRACE_RETURN_IF_ERROR(read_nearest(node, &resize));
  MILLRACE_RETURN_IF_ERROR(check_later_attributes(node));
  MILLRACE_RETURN_IF_ERROR(read_target(node, &resize));
  MILLRACE_RETURN_IF_ERROR(check_half_pixel(node, resize));
  return node.emit(std::move(resize), {node.operand(0)});
}

}  // namespace millrace::lowering
