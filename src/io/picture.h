// Converts pictures (JPEG, PNG, WebP, BMP, PNM) to the planar float tensors that image networks
// take. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "vision/preprocess/geometry.h"
#include "vision/preprocess/picture.h"

namespace millrace::io {

// y = (x - mean) * scale per channel, x from 0 to 255, mean and scale in the order of the output's
// channels. Padding is black.
struct PictureOptions {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 3;  // 3, or 1 for grey
  vision::FitOptions fit{};
  vision::ChannelOrder order = vision::ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};
};

// The picture as [channels, height, width] floats: preprocessing with its filter kArea, as image
// libraries do it (vision/preprocess/axis.h). Transparency is dropped. kNotFound, kIoError,
// kCorruptData when the file is not a picture, or kInvalidArgument when preprocessing cannot take
// it: when it has a side above vision::kMaxSide, or an option makes no sense.
Result<std::vector<float>> load_picture(const std::string& path, const PictureOptions& options);

// The same for a picture in memory, with its channels in whatever order its format has.
// kInvalidArgument as load_picture.
Result<std::vector<float>> planes_of(const vision::SourcePicture& picture,
                                     const PictureOptions& options);

}  // namespace millrace::io
