#include "vision/preprocess/resampler.h"

#include <algorithm>
#include <numeric>

namespace millrace::vision {

ResamplePlan::ResamplePlan(const SourcePicture& picture, const Region& crop, uint32_t width,
                           uint32_t height, Filter filter)
    : source(picture),
      across(filter, crop.x, crop.width, width),
      down(filter, crop.y, crop.height, height) {
  if (!interpolates()) return;
  left.reserve(width);
  right.reserve(width);
  fractions = RowBuffer<float>(kLanes * width);
  for (uint32_t x = 0; x < width; ++x) {
    left.push_back(across.first(x));
    right.push_back(across.last(x));
    std::fill_n(fractions.data() + kLanes * x, kLanes, across.fraction(x));
  }
}

Resampler::Resampler(const ResamplePlan& plan)
    : plan_(plan), source_(plan.source, std::max(plan.across.outputs(), plan.source.width)) {
  const size_t width = plan.across.outputs();
  if (plan.interpolates()) {
    for (GatheredRow& row : gathered_)
      row.pixels = {RowBuffer<uint8_t>(kLanes * width), RowBuffer<uint8_t>(kLanes * width)};
    return;
  }
  const uint32_t begin = plan.across.first(0);
  columns_.resize(plan.across.last(plan.across.outputs() - 1) - begin + 1);
  std::iota(columns_.begin(), columns_.end(), begin);
  const bool converts = plan.source.format == SourceFormat::kNv12;
  pixel_stride_ = converts ? kLanes : bytes_per_pixel(plan.source.format);
  if (converts) converted_ = RowBuffer<uint8_t>(kLanes * columns_.size());
  sums_ = RowBuffer<float>(pixel_stride_ * columns_.size());
}

void Resampler::make_row(uint32_t y, float* to) {
  if (plan_.interpolates())
    interpolate_row(y, to);
  else
    sum_row(y, to);
}

void Resampler::interpolate_row(uint32_t y, float* to) {
  const Neighbours& upper = neighbours(plan_.down.first(y));
  const Neighbours& lower = neighbours(plan_.down.last(y));
  kernels().interpolate(upper, lower, plan_.fractions.data(), plan_.down.fraction(y),
                        kLanes * plan_.across.outputs(), to);
}

const Neighbours& Resampler::neighbours(uint32_t source_y) {
  GatheredRow& row = gathered_[source_y % 2];
  if (row.y != source_y) {
    source_.gather(source_y, plan_.left, row.pixels.left);
    source_.gather(source_y, plan_.right, row.pixels.right);
    row.y = source_y;
  }
  return row.pixels;
}

// First the rows, over contiguous bytes, then the pixels of their sum.
void Resampler::sum_row(uint32_t y, float* to) {
  uint32_t source_y = plan_.down.first(y);
  bool is_first = true;
  for (const float weight : plan_.down.weights(y)) {
    add_source_row(source_y++, weight, is_first);
    is_first = false;
  }
  const Axis& across = plan_.across;
  for (uint32_t x = 0; x < across.outputs(); ++x)
    kernels().sum_pixels(sums_.data() + pixel_stride_ * (across.first(x) - columns_.front()),
                         pixel_stride_, across.weights(x), to + kLanes * x);
}

void Resampler::add_source_row(uint32_t source_y, float weight, bool is_first) {
  const SourcePicture& picture = plan_.source;
  const uint8_t* bytes = converted_.data();
  if (picture.format == SourceFormat::kNv12)
    source_.gather(source_y, columns_, converted_);
  else
    bytes = picture.planes[0] + source_y * picture.strides[0] + columns_.front() * pixel_stride_;
  const auto add = is_first ? kernels().weigh : kernels().add_weighed;
  add(bytes, weight, pixel_stride_ * columns_.size(), sums_.data());
}

}  // namespace millrace::vision
