#include "vartx/results/frame_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace millrace::vartx {
namespace {

using ::vart::InferResScaleInfo;

bool has_geometry(const InferResScaleInfo& info) {
  const float all[] = {info.scale_x, info.scale_y, info.crop_x,
                       info.crop_y,  info.pad_x,   info.pad_y};
  return std::ranges::any_of(all, [](float value) { return value != 0; });
}

bool has_sizes(const InferResScaleInfo& info) {
  return info.input_frame_width > 0 && info.input_frame_height > 0 && info.model_input_width > 0 &&
         info.model_input_height > 0;
}

bool has_factors(const InferResScaleInfo& info) {
  return info.width_scale_factor != 0 || info.height_scale_factor != 0;
}

template <class Integer>
Integer rounded(double value) {
  if (std::isnan(value)) return 0;
  const double lowest = std::numeric_limits<Integer>::min();
  const double highest = std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::clamp(std::round(value), lowest, highest));
}

}  // namespace

int32_t rounded_coordinate(double value) noexcept {
  return rounded<int32_t>(value);
}

uint32_t rounded_size(double value) noexcept {
  return rounded<uint32_t>(value);
}

FrameGeometry::FrameGeometry(const InferResScaleInfo& info) {
  if (has_geometry(info)) {
    x_ = axis_of(info.scale_x, info.crop_x, info.pad_x);
    y_ = axis_of(info.scale_y, info.crop_y, info.pad_y);
  } else if (has_sizes(info)) {
    x_.factor = 1.0 * info.input_frame_width / info.model_input_width;
    y_.factor = 1.0 * info.input_frame_height / info.model_input_height;
  } else if (has_factors(info)) {
    x_.factor = 1 / axis_of(info.width_scale_factor, 0, 0).factor;
    y_.factor = 1 / axis_of(info.height_scale_factor, 0, 0).factor;
  }
}

FrameGeometry::Axis FrameGeometry::axis_of(float scale, float crop, float pad) {
  if (!std::isfinite(scale) || scale <= 0)
    throw std::invalid_argument(
        fmt::format("transform: a scale of {} is not a positive number", scale));
  if (!std::isfinite(crop) || !std::isfinite(pad))
    throw std::invalid_argument(
        fmt::format("transform: the crop {} and the padding {} must be finite", crop, pad));
  return {pad, 1 / double{scale}, crop};
}

void FrameGeometry::transform(::vart::DetectionResData& box) const noexcept {
  const double right = frame_x(1.0 * box.x + box.width);
  const double bottom = frame_y(1.0 * box.y + box.height);
  box.x = rounded_coordinate(frame_x(box.x));
  box.y = rounded_coordinate(frame_y(box.y));
  box.width = rounded_size(right - box.x);
  box.height = rounded_size(bottom - box.y);
}

}  // namespace millrace::vartx
