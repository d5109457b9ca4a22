#include "io/pictures/pixels.h"

#include <fmt/format.h>

#include <new>

namespace millrace::io {

Result<Pixels> allocate_pixels(uint64_t width, uint64_t height, uint32_t channels,
                               uint64_t max_pixels) {
  if (width == 0 || height == 0 || width > vision::kMaxSide || height > vision::kMaxSide)
    return invalid_argument(
        fmt::format("the picture has {} x {} pixels, but sides are from 1 to {}", width, height,
                    vision::kMaxSide));
  if (width * height > max_pixels)
    return invalid_argument(
        fmt::format("the picture has {} x {} pixels, which is more than the limit of {}", width,
                    height, max_pixels));
  Pixels pixels{static_cast<uint32_t>(width), static_cast<uint32_t>(height), channels, {}};
  pixels.bytes.reset(new (std::nothrow) uint8_t[pixels.size()]);
  if (pixels.bytes == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("no memory for a picture of {} x {} pixels", width, height));
  return pixels;
}

Result<Pixels> grey_of(const Pixels& colour) {
  MILLRACE_ASSIGN_OR_RETURN(Pixels grey, allocate_pixels(colour.width, colour.height, 1,
                                                         uint64_t{colour.width} * colour.height));
  // The weights are multiples of 1 / 2^14, whose sum is 1. So grey stays what it is.
  constexpr uint32_t kRed = 4899, kGreen = 9617, kBlue = 1868, kShift = 14;
  static_assert(kRed + kGreen + kBlue == 1U << kShift);
  const uint8_t* rgb = colour.bytes.get();
  for (size_t i = 0; i < grey.size(); ++i, rgb += 3)
    grey.bytes[i] = static_cast<uint8_t>(
        (rgb[0] * kRed + rgb[1] * kGreen + rgb[2] * kBlue + (1U << (kShift - 1))) >> kShift);
  return grey;
}

vision::SourcePicture source_of(const Pixels& picture) {
  return {picture.channels == 1 ? vision::SourceFormat::kGrey : vision::SourceFormat::kRgb,
          picture.width,
          picture.height,
          {picture.bytes.get()},
          {picture.stride()}};
}

}  // namespace millrace::io
