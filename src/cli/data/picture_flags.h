// How pictures become an input of a model, as it stands on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "io/picture.h"

namespace millrace::cli {

struct PictureFlags {
  std::vector<float> mean, scale;  // empty, or one value for all channels, or three
  std::string order = "rgb";       // or "bgr"
  std::string resize = "stretch";  // or "crop", "letterbox"
  uint32_t short_side = 0;         // before cropping; 0: just so that the picture is covered
};

// The options without a size, which is that of the input. kInvalidArgument names the flag that
// makes no sense.
Result<io::PictureOptions> picture_options(const PictureFlags& flags);

}  // namespace millrace::cli
