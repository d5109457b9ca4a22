#include "vision/preprocess/resampler.h"

#include <algorithm>
#include <cmath>

namespace millrace::vision {

ResamplePlan::ResamplePlan(const SourcePicture& picture, const Placement& placement, Filter filter)
    : source(picture),
      across(filter, placement.crop.x, placement.crop.width, columns_of(placement)),
      down(filter, placement.crop.y, placement.crop.height, rows_of(placement)) {
  if (!interpolates()) return;
  const uint32_t width = across.outputs();
  offsets.reserve(width);
  weights = RowBuffer<int16_t>(kPairWeights * width);
  for (uint32_t x = 0; x < width; ++x) {
    offsets.push_back(across.first(x) * bytes_per_pixel(source.format));
    const auto right = static_cast<int16_t>(std::lround(across.fraction(x) * kWeightOne));
    for (size_t i = 0; i < kPairWeights; i += 2) {
      weights.data()[kPairWeights * x + i] = static_cast<int16_t>(kWeightOne - right);
      weights.data()[kPairWeights * x + i + 1] = right;
    }
  }
}

uint64_t ResamplePlan::samples() const {
  constexpr uint64_t kNeighbours = 4;
  if (interpolates()) return kNeighbours * across.outputs() * down.outputs();
  uint64_t rows = 0;
  for (uint32_t y = 0; y < down.outputs(); ++y) rows += down.weights(y).size();
  return rows * (across.last(across.outputs() - 1) + 1 - across.first(0));
}

Resampler::Resampler(const ResamplePlan& plan)
    : plan_(plan), source_(plan.source, std::max(plan.across.outputs(), plan.source.width)) {
  if (plan.interpolates()) {
    for (GatheredRow& row : gathered_)
      row.pairs = RowBuffer<uint8_t>(kPairBytes * plan.across.outputs());
    return;
  }
  begin_ = plan.across.first(0);
  end_ = plan.across.last(plan.across.outputs() - 1) + 1;
  const bool converts = plan.source.format == SourceFormat::kNv12;
  pixel_stride_ = converts ? kLanes : bytes_per_pixel(plan.source.format);
  if (converts) converted_ = RowBuffer<uint8_t>(kLanes * (end_ - begin_));
  sums_ = RowBuffer<float>(pixel_stride_ * (end_ - begin_));
}

void Resampler::make_row(uint32_t y, float* to) {
  if (plan_.interpolates())
    interpolate_row(y, to);
  else
    sum_row(y, to);
}

void Resampler::interpolate_row(uint32_t y, float* to) {
  const PairRow upper = pairs_of(plan_.down.first(y));
  const PairRow lower = pairs_of(plan_.down.last(y));
  kernels().interpolate(upper, lower, plan_.weights.data(), plan_.down.fraction(y),
                        plan_.across.outputs(), to);
}

PairRow Resampler::pairs_of(uint32_t source_y) {
  GatheredRow& row = gathered_[source_y % 2];
  if (row.y != source_y) {
    source_.gather(source_y, plan_.offsets, row.pairs);
    row.y = source_y;
  }
  return {row.pairs.data(), SourceRows::pair_pixel_bytes(plan_.source.format)};
}

// Sums vertically first, since that is over contiguous bytes, then horizontally.
void Resampler::sum_row(uint32_t y, float* to) {
  uint32_t source_y = plan_.down.first(y);
  bool is_first = true;
  for (const float weight : plan_.down.weights(y)) {
    add_source_row(source_y++, weight, is_first);
    is_first = false;
  }
  const Axis& across = plan_.across;
  for (uint32_t x = 0; x < across.outputs(); ++x)
    kernels().sum_pixels(sums_.data() + pixel_stride_ * (across.first(x) - begin_), pixel_stride_,
                         across.weights(x), to + kLanes * x);
}

void Resampler::add_source_row(uint32_t source_y, float weight, bool is_first) {
  const SourcePicture& picture = plan_.source;
  const uint8_t* bytes = converted_.data();
  if (picture.format == SourceFormat::kNv12)
    source_.convert(source_y, begin_, end_, converted_);
  else
    bytes = picture.planes[0] + source_y * picture.strides[0] + begin_ * pixel_stride_;
  const auto add = is_first ? kernels().weigh : kernels().add_weighed;
  add(bytes, weight, pixel_stride_ * (end_ - begin_), sums_.data());
}

}  // namespace millrace::vision
