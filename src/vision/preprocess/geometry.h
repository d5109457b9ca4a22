// Determines where the pixels of a picture go: which part of it is used, and which part of the
// output it fills. Thread-safe: the functions have no state.
#pragma once

#include <cstdint>

#include "vision/preprocess/axis.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

//   kStretch    the whole input region fills the whole output region
//   kLetterbox  the whole input region keeps its aspect ratio and fills one side of the output
//               region; the rest is padding
//   kPanscan    the centre of the input region that has the aspect ratio of the output region
//               fills it
//   kCrop       the input region is scaled until its shorter side has a given length, and what
//               is in the centre then fills the output region: how classifiers are usually
//               evaluated. Pixels need not begin where the output region does, as with kPanscan
enum class Fit : uint8_t { kStretch, kLetterbox, kPanscan, kCrop };

struct FitOptions {
  Fit fit = Fit::kStretch;
  bool symmetric_padding = false;  // kLetterbox: in the centre
  // kCrop: in pixels. The scaled region covers the output region in any case, so 0 is the smallest
  // that does.
  uint32_t short_side = 0;
};

struct Placement {
  Region crop;     // of the input picture
  Region content;  // of the output picture
  // Size to which `crop` is scaled. `content` shows its centre: all of it, except for kCrop.
  uint32_t scaled_width = 0;
  uint32_t scaled_height = 0;
};

// The map from the input picture to the output picture, in pixels whose corners have whole
// coordinates (the centre of the first pixel is 0.5, 0.5):
//
//   output_x = (input_x - crop_x) * scale_x + pad_x
//   output_y = (input_y - crop_y) * scale_y + pad_y
//
// crop is the corner of the part of the input that is used, which with kCrop lies within a pixel;
// pad is the corner of the part of the output that it fills. The scales are those after rounding to
// whole pixels, so the map is exact.
struct Geometry {
  double scale_x = 1;
  double scale_y = 1;
  double crop_x = 0;
  double crop_y = 0;
  double pad_x = 0;
  double pad_y = 0;
};

// Neither region is empty. Sizes are rounded to the nearest whole pixel and are at least 1. A
// letterboxed picture is at the top left of `output`; in its centre if `symmetric_padding`, an odd
// pixel of padding being at the right or bottom.
Placement place(const FitOptions& options, const Region& input, const Region& output);

// The columns and the rows of the scaled region that `content` shows.
OutputWindow columns_of(const Placement& placement);
OutputWindow rows_of(const Placement& placement);

Geometry geometry_of(const Placement& placement);

}  // namespace millrace::vision
