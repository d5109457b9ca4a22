#include "tests/vision/preprocess/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tensor/half.h"

namespace millrace::vision {
namespace {

using tensor::DataType;

double to_byte(double value) {
  return std::nearbyint(std::clamp(value, 0.0, 255.0));
}

Rgb rgb_of_nv12(const Source& source, uint32_t x, uint32_t y) {
  const double luma = (source.planes[0][y * source.width + x] - 16) * 255.0 / 219;
  const uint8_t* chroma = source.planes[1].data() + y / 2 * source.width + x / 2 * 2;
  const double cb = chroma[0] - 128.0, cr = chroma[1] - 128.0;
  return {to_byte(luma + 1.596027 * cr), to_byte(luma - 0.391762 * cb - 0.812968 * cr),
          to_byte(luma + 2.017232 * cb)};
}

// The weight of each source sample for one output sample.
std::vector<double> weights(uint32_t output, uint32_t size, uint32_t outputs, Filter filter) {
  std::vector<double> result(size, 0.0);
  const double step = static_cast<double>(size) / outputs;
  const bool averages = filter == Filter::kArea ? step > 1 : filter == Filter::kAuto && step > 2;
  for (uint32_t sample = 0; averages && sample < size; ++sample) {
    const double begin = std::max<double>(sample, output * step);
    const double end = std::min<double>(sample + 1, (output + 1) * step);
    result[sample] = std::max(0.0, end - begin) / step;
  }
  if (averages) return result;
  const double centre = std::clamp((output + 0.5) * step - 0.5, 0.0, size - 1.0);
  const auto first = static_cast<uint32_t>(centre);
  result[first] += 1 - (centre - first);
  if (first + 1 < size) result[first + 1] += centre - first;
  return result;
}

}  // namespace

SourcePicture Source::view() const {
  const size_t stride = static_cast<size_t>(width) * bytes_per_pixel(format);
  return {format, width, height, {planes[0].data(), planes[1].data()}, {stride, stride}};
}

Source noise(SourceFormat format, uint32_t width, uint32_t height) {
  Source source{format, width, height, {}};
  source.planes[0].resize(size_t{width} * height * bytes_per_pixel(format));
  if (format == SourceFormat::kNv12) source.planes[1].resize(size_t{width} * height / 2);
  std::minstd_rand random(width * 31 + height);
  for (auto& plane : source.planes)
    for (uint8_t& byte : plane) byte = static_cast<uint8_t>(random() >> 8);
  return source;
}

Target::Target(const TargetFormat& target_format, uint32_t target_width, uint32_t target_height)
    : format(target_format),
      width(target_width),
      height(target_height),
      stride(width * elements_per_pixel(format.arrangement) * tensor::size_of(format.type) + 5) {
  for (uint32_t plane = 0; plane < plane_count(format.arrangement); ++plane)
    planes[plane].assign(stride * height, kUntouched);
}

TargetPicture Target::view() {
  return {format,
          width,
          height,
          {planes[0].data(), planes[1].data(), planes[2].data()},
          {stride, stride, stride}};
}

double Target::element(uint32_t plane, uint32_t y, uint32_t index) const {
  const uint8_t* at = planes[plane].data() + y * stride + index * tensor::size_of(format.type);
  uint16_t half = 0;
  float value = 0;
  switch (format.type) {
    case DataType::kInt8:
      return static_cast<int8_t>(*at);
    case DataType::kUint8:
      return *at;
    case DataType::kFloat32:
      std::memcpy(&value, at, sizeof value);
      return value;
    default:
      std::memcpy(&half, at, sizeof half);
      return format.type == DataType::kBf16 ? tensor::bf16_to_float(half)
                                            : tensor::fp16_to_float(half);
  }
}

double Target::channel(uint32_t x, uint32_t y, uint32_t channel) const {
  if (format.arrangement == Arrangement::kPlanar) return element(channel, y, x);
  return element(0, y, x * elements_per_pixel(format.arrangement) + channel);
}

Rgb rgb_at(const Source& source, uint32_t x, uint32_t y) {
  if (source.format == SourceFormat::kNv12) return rgb_of_nv12(source, x, y);
  const uint32_t bytes = bytes_per_pixel(source.format);
  const uint8_t* pixel = source.planes[0].data() + (size_t{y} * source.width + x) * bytes;
  const auto at = [&](uint32_t channel) { return static_cast<double>(pixel[channel]); };
  if (source.format == SourceFormat::kGrey) return {at(0), at(0), at(0)};
  const bool bgr = source.format == SourceFormat::kBgr || source.format == SourceFormat::kBgrx;
  return bgr ? Rgb{at(2), at(1), at(0)} : Rgb{at(0), at(1), at(2)};
}

std::vector<Rgb> resized(const Source& source, const Region& crop, uint32_t width, uint32_t height,
                         Filter filter) {
  std::vector<Rgb> result(size_t{width} * height, Rgb{0, 0, 0});
  for (uint32_t y = 0; y < height; ++y) {
    const auto down = weights(y, crop.height, height, filter);
    for (uint32_t x = 0; x < width; ++x) {
      const auto across = weights(x, crop.width, width, filter);
      for (uint32_t v = 0; v < crop.height; ++v)
        for (uint32_t u = 0; u < crop.width && down[v] > 0; ++u)
          for (size_t channel = 0; across[u] > 0 && channel < 3; ++channel)
            result[y * width + x][channel] +=
                down[v] * across[u] * rgb_at(source, crop.x + u, crop.y + v)[channel];
    }
  }
  return result;
}

Rgb normalised(const Rgb& pixel, const Normalisation& normalisation) {
  Rgb result;
  for (size_t channel = 0; channel < 3; ++channel)
    result[channel] = (pixel[channel] - normalisation.mean[channel]) *
                      normalisation.scale[channel] * normalisation.factor;
  return result;
}

}  // namespace millrace::vision
