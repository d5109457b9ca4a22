#include "vision/preprocess/row_store.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tensor/conversion/kernels.h"
#include "tensor/conversion/strided.h"

namespace millrace::vision {
namespace {

using tensor::DataType;

constexpr std::array<float, 3> kLuma = {0.299f, 0.587f, 0.114f};

// Returns the rule for colour targets. The scale of the fourth lane is 0, which makes it 0.
LaneRule colour_rule(const Normalisation& normalisation, ChannelOrder order,
                     const std::array<uint8_t, 3>& rgb_lanes) {
  LaneRule rule;
  for (uint32_t lane = 0; lane < 3; ++lane) {
    const uint32_t channel = order == ChannelOrder::kRgb ? lane : 2 - lane;
    rule.source[lane] = rgb_lanes[channel];
    rule.mean[lane] = normalisation.mean[channel];
    rule.scale[lane] = normalisation.scale[channel];
    rule.factor[lane] = normalisation.factor;
  }
  rule.source[3] = rgb_lanes[0];
  rule.scale[3] = 0;
  return rule;
}

// Returns the rule that multiplies R, G and B by the weights of the luma. For a grey source, whose
// channels share a lane, the weights are 1, 0 and 0, so that its values do not change by rounding.
LaneRule luma_rule(const std::array<uint8_t, 3>& rgb_lanes) {
  const bool is_grey = rgb_lanes[0] == rgb_lanes[1];
  const std::array<float, 3> weights = is_grey ? std::array<float, 3>{1, 0, 0} : kLuma;
  return colour_rule({.scale = weights}, ChannelOrder::kRgb, rgb_lanes);
}

// Returns the normalisation of a row of luma values, which kernels process four at a time.
LaneRule grey_rule(const Normalisation& normalisation) {
  LaneRule rule;
  rule.mean.fill(normalisation.mean[0]);
  rule.scale.fill(normalisation.scale[0]);
  rule.factor.fill(normalisation.factor);
  return rule;
}

std::optional<ByteRange> range_of(DataType type) {
  if (type == DataType::kInt8) return ByteRange{INT8_MIN, INT8_MAX};
  if (type == DataType::kUint8) return ByteRange{0, UINT8_MAX};
  return std::nullopt;
}

void encode(DataType type, const float* values, size_t count, uint8_t* to) {
  const tensor::ElementRule rule;
  if (const auto kernel = tensor::contiguous_kernel(DataType::kFloat32, type))
    kernel(values, to, count, rule);
  else
    tensor::strided_kernel(DataType::kFloat32, type)(values, 1, to, 1, count, rule);
}

}  // namespace

RowStore::RowStore(const TargetPicture& target, const Region& region,
                   const Normalisation& normalisation, const std::array<uint8_t, 3>& rgb_lanes)
    : target_(target),
      region_(region),
      rule_(target.format.arrangement == Arrangement::kGrey
                ? luma_rule(rgb_lanes)
                : colour_rule(normalisation, target.format.order, rgb_lanes)),
      grey_(grey_rule(normalisation)) {
  const Arrangement arrangement = target.format.arrangement;
  if (arrangement == Arrangement::kPadded) return;
  for (uint32_t plane = 0; plane < plane_count(arrangement); ++plane)
    rows_[plane] = RowBuffer<float>(region.width * elements_per_pixel(arrangement));
}

void RowStore::store(uint32_t y, float* pixels) {
  const size_t width = region_.width;
  if (const auto range = range_of(target_.format.type);
      range && target_.format.arrangement == Arrangement::kPadded)
    return kernels().apply_to_bytes(rule_, *range, pixels, width, place_of(0, y));
  float* row = rows_[0].data();
  kernels().apply(rule_, pixels, width, pixels);
  switch (target_.format.arrangement) {
    case Arrangement::kPadded:
      return store_plane(0, y, pixels, kLanes * width);
    case Arrangement::kPacked:
      kernels().pack(pixels, width, row);
      return store_plane(0, y, row, 3 * width);
    case Arrangement::kGrey:
      kernels().sum_lanes(pixels, width, row);
      kernels().apply(grey_, row, (width + kLanes - 1) / kLanes, row);
      return store_plane(0, y, row, width);
    case Arrangement::kPlanar:
      break;
  }
  kernels().split(pixels, width, {rows_[0].data(), rows_[1].data(), rows_[2].data()});
  for (uint32_t plane = 0; plane < 3; ++plane) store_plane(plane, y, rows_[plane].data(), width);
}

uint8_t* RowStore::place_of(uint32_t plane, uint32_t y) const {
  const TargetFormat& format = target_.format;
  const size_t pixel_bytes = elements_per_pixel(format.arrangement) * tensor::size_of(format.type);
  return target_.planes[plane] + (region_.y + size_t{y}) * target_.strides[plane] +
         region_.x * pixel_bytes;
}

void RowStore::store_plane(uint32_t plane, uint32_t y, const float* values, size_t count) const {
  encode(target_.format.type, values, count, place_of(plane, y));
}

}  // namespace millrace::vision
