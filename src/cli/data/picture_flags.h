// The options of the command line that say how pictures are preprocessed to an input of a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "io/pictures/picture.h"

namespace millrace::cli {

struct PictureFlags {
  // Each is empty, or one value for all channels, or one per channel. At most one of scale and
  // deviation, by which values are divided, is given.
  std::vector<float> mean, scale, deviation;
  std::string normalise;           // "imagenet", "unit" or "none", instead of these; empty: none
  std::string order = "rgb";       // or "bgr"
  std::string resize = "stretch";  // or "crop", "letterbox"
  uint32_t short_side = 0;  // in pixels, before cropping; 0: just enough to cover the input's size
};

// Whether the command line states how the values of pixels are normalised.
bool states_normalisation(const PictureFlags& flags);

// Converts the options. The size is left open, since it is that of the input. kInvalidArgument
// names the option whose value is invalid.
Result<io::PictureOptions> picture_options(const PictureFlags& flags);

}  // namespace millrace::cli
