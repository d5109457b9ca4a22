#include "vision/preprocess/geometry.h"

#include <algorithm>

namespace millrace::vision {
namespace {

// side * numerator / denominator, to nearest and half up, from 1 to `limit`.
uint32_t scaled(uint32_t side, uint32_t numerator, uint32_t denominator, uint32_t limit) {
  const uint64_t twice = 2 * static_cast<uint64_t>(side) * numerator + denominator;
  const uint64_t result = twice / (2 * static_cast<uint64_t>(denominator));
  return static_cast<uint32_t>(std::clamp<uint64_t>(result, 1, limit));
}

// Whether `a` is wider than `b`, relative to its height.
bool is_wider(const Region& a, const Region& b) {
  return static_cast<uint64_t>(a.width) * b.height > static_cast<uint64_t>(b.width) * a.height;
}

// The largest region of the aspect ratio of `shape` that fits `bounds`, at its top left.
Region fitted(const Region& shape, const Region& bounds) {
  Region result = bounds;
  if (is_wider(shape, bounds))
    result.height = scaled(shape.height, bounds.width, shape.width, bounds.height);
  else
    result.width = scaled(shape.width, bounds.height, shape.height, bounds.width);
  return result;
}

Region centred(Region region, const Region& bounds) {
  region.x = bounds.x + (bounds.width - region.width) / 2;
  region.y = bounds.y + (bounds.height - region.height) / 2;
  return region;
}

}  // namespace

Placement place(Fit fit, bool symmetric_padding, const Region& input, const Region& output) {
  if (fit == Fit::kPanscan) return {centred(fitted(output, input), input), output};
  if (fit == Fit::kStretch) return {input, output};
  const Region content = fitted(input, output);
  return {input, symmetric_padding ? centred(content, output) : content};
}

Geometry geometry_of(const Placement& placement) {
  const auto& [crop, content] = placement;
  return {.scale_x = static_cast<double>(content.width) / crop.width,
          .scale_y = static_cast<double>(content.height) / crop.height,
          .crop_x = static_cast<double>(crop.x),
          .crop_y = static_cast<double>(crop.y),
          .pad_x = static_cast<double>(content.x),
          .pad_y = static_cast<double>(content.y)};
}

}  // namespace millrace::vision
