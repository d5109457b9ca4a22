// Pictures for the tests of preprocessing, and what should become of them, computed in double
// precision, pixel by pixel, from the definitions in the headers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "vision/preprocess/preprocess.h"

namespace millrace::vision {

inline constexpr SourceFormat kSourceFormats[] = {SourceFormat::kBgr,  SourceFormat::kRgb,
                                                  SourceFormat::kBgrx, SourceFormat::kRgbx,
                                                  SourceFormat::kGrey, SourceFormat::kNv12};
inline constexpr tensor::DataType kTargetTypes[] = {
    tensor::DataType::kInt8, tensor::DataType::kUint8, tensor::DataType::kBf16,
    tensor::DataType::kFp16, tensor::DataType::kFloat32};

// A source picture with its memory, which ends where the picture does.
struct Source {
  SourceFormat format;
  uint32_t width;
  uint32_t height;
  std::array<std::vector<uint8_t>, 2> planes;

  SourcePicture view() const;
  Region whole() const { return {0, 0, width, height}; }
};

// Bytes without a pattern, the same for the same arguments.
Source noise(SourceFormat format, uint32_t width, uint32_t height);

// A target picture with its memory, all bytes of which are kUntouched at first. Rows have some
// bytes behind them.
struct Target {
  static constexpr uint8_t kUntouched = 0xa5;

  Target(const TargetFormat& format, uint32_t width, uint32_t height);
  TargetPicture view();
  Region whole() const { return {0, 0, width, height}; }
  // The element of a plane, as a number.
  double element(uint32_t plane, uint32_t y, uint32_t index) const;
  // Channel 0 to 2 of a pixel in memory order, or the padding lane 3.
  double channel(uint32_t x, uint32_t y, uint32_t channel) const;

  TargetFormat format;
  uint32_t width;
  uint32_t height;
  size_t stride;
  std::array<std::vector<uint8_t>, 3> planes;
};

using Rgb = std::array<double, 3>;

// R, G and B of a pixel.
Rgb rgb_at(const Source& source, uint32_t x, uint32_t y);

// A row-major picture of width x height pixels: `crop` resized.
std::vector<Rgb> resized(const Source& source, const Region& crop, uint32_t width, uint32_t height,
                         Filter filter);

// (x - mean) * scale * factor.
Rgb normalised(const Rgb& pixel, const Normalisation& normalisation);

}  // namespace millrace::vision
