// Converts pictures (JPEG, PNG, WebP, BMP, PNM) to the planar float tensors that image networks
// take. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::io {

enum class Fit : uint8_t {
  kStretch,    // both sides to the target, whatever the aspect ratio
  kCrop,       // the shorter side to `short_side`, then the centre
  kLetterbox,  // the longer side to the target, centred, the rest filled with 0
};
enum class ChannelOrder : uint8_t { kRgb, kBgr };

// y = (x - mean) * scale per channel, x from 0 to 255, mean and scale in the order of the output's
// channels.
struct PictureOptions {
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 3;  // 3, or 1 for grey
  Fit fit = Fit::kStretch;
  uint32_t short_side = 0;  // kCrop only; 0: the smallest that covers the target
  ChannelOrder order = ChannelOrder::kRgb;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> scale{1, 1, 1};
};

// The picture as [channels, height, width] floats, resized bilinearly (area averaging when
// shrinking, as image libraries do for anti-aliasing). Transparency is dropped. kNotFound,
// kIoError, or kCorruptData when the file is not a picture, or one so long and narrow that cropping
// it would take gigabytes.
Result<std::vector<float>> load_picture(const std::string& path, const PictureOptions& options);

}  // namespace millrace::io
