#include "vision/preprocess/geometry.h"

#include <algorithm>
#include <limits>

namespace millrace::vision {
namespace {

// Returns side * numerator / denominator, rounded to nearest with halves up, clamped to 1 to
// `limit`.
uint32_t scaled(uint32_t side, uint32_t numerator, uint32_t denominator, uint32_t limit) {
  const uint64_t twice = 2 * static_cast<uint64_t>(side) * numerator + denominator;
  const uint64_t result = twice / (2 * static_cast<uint64_t>(denominator));
  return static_cast<uint32_t>(std::clamp<uint64_t>(result, 1, limit));
}

// Returns the `count` samples in the middle of `all`.
OutputWindow middle(uint32_t all, uint32_t count) {
  return {all, (all - count) / 2, count};
}

// Scales `input` by the largest of three factors: the one that covers the width of `output`, the
// one that covers its height, and the one that gives the shorter side its length. Factors are
// compared as fractions of integers, without rounding.
Placement scaled_crop(const Region& input, const Region& output, uint32_t short_side) {
  struct Factor {
    uint32_t numerator, denominator;
    bool operator<(const Factor& other) const {
      return uint64_t{numerator} * other.denominator < uint64_t{other.numerator} * denominator;
    }
  };
  const Factor factor =
      std::max({Factor{output.width, input.width}, Factor{output.height, input.height},
                Factor{short_side, std::min(input.width, input.height)}});
  const auto side = [&](uint32_t from, uint32_t least) {
    return std::max(least, scaled(from, factor.numerator, factor.denominator,
                                  std::numeric_limits<uint32_t>::max()));
  };
  return {input, output, side(input.width, output.width), side(input.height, output.height)};
}

// True if the aspect ratio (width / height) of `a` is larger than that of `b`.
bool is_wider(const Region& a, const Region& b) {
  return static_cast<uint64_t>(a.width) * b.height > static_cast<uint64_t>(b.width) * a.height;
}

// Returns the largest region with the aspect ratio of `shape` within `bounds`, at its top left.
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

Placement place(const FitOptions& options, const Region& input, const Region& output) {
  const auto whole = [](const Region& crop, const Region& content) {
    return Placement{crop, content, content.width, content.height};
  };
  switch (options.fit) {
    case Fit::kCrop:
      return scaled_crop(input, output, options.short_side);
    case Fit::kPanscan:
      return whole(centred(fitted(output, input), input), output);
    case Fit::kLetterbox: {
      const Region content = fitted(input, output);
      return whole(input, options.symmetric_padding ? centred(content, output) : content);
    }
    case Fit::kStretch:
      break;
  }
  return whole(input, output);
}

OutputWindow columns_of(const Placement& placement) {
  return middle(placement.scaled_width, placement.content.width);
}

OutputWindow rows_of(const Placement& placement) {
  return middle(placement.scaled_height, placement.content.height);
}

Geometry geometry_of(const Placement& placement) {
  const Region& crop = placement.crop;
  const double scale_x = static_cast<double>(placement.scaled_width) / crop.width;
  const double scale_y = static_cast<double>(placement.scaled_height) / crop.height;
  return {.scale_x = scale_x,
          .scale_y = scale_y,
          .crop_x = crop.x + columns_of(placement).first / scale_x,
          .crop_y = crop.y + rows_of(placement).first / scale_y,
          .pad_x = static_cast<double>(placement.content.x),
          .pad_y = static_cast<double>(placement.content.y)};
}

}  // namespace millrace::vision
