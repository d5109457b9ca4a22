// Converts picture files (JPEG, PNG, WebP, BMP, PNM) to the planar (NCHW) float tensors that image
// networks take as input. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// Each channel x, 0 to 255, becomes (x - mean) * scale; mean and scale are in the order of the
// output's channels. Padding is black before that.
struct PictureOptions {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 3;  // 3 for colour or 1 for grey
  vision::FitOptions fit{};
  vision::ChannelOrder order = vision::ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};
  // A file with more pixels is refused: a small one can stand for gigabytes.
  uint64_t max_pixels = uint64_t{1} << 30;
};

// Returns the picture as [channels, height, width] floats, resized with the filter kArea, as image
// libraries do (vision/preprocess/axis.h). Transparency is dropped, and pictures of cameras are
// turned as their EXIF data say. kNotFound or kIoError; kCorruptData when the file is not a
// picture; kInvalidArgument when a side exceeds vision::kMaxSide, there are more than max_pixels,
// or an option is not valid; kOutOfMemory.
Result<std::vector<float>> load_picture(const std::string& path, const PictureOptions& options);

// Does the same for a picture in memory, of any source format. kInvalidArgument as load_picture().
Result<std::vector<float>> planes_of(const vision::SourcePicture& picture,
                                     const PictureOptions& options);

}  // namespace millrace::io
