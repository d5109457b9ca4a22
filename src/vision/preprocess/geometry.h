// The geometry of preprocessing: which region of the input picture is used, to which size it is
// scaled, and which region of the output it fills. Thread-safe.
#pragma once

#include <cstdint>

#include "vision/preprocess/axis.h"
#include "vision/preprocess/picture.h"

namespace millrace::vision {

// How a picture of another aspect ratio is fitted to the output region.
//   kStretch    the whole input region fills the whole output region; the aspect ratio may change
//   kLetterbox  the whole input region is scaled with its aspect ratio until it fills the output
//               region in one direction; the rest is padding
//   kPanscan    the largest central part of the input region that has the aspect ratio of the
//               output region fills it; it consists of whole pixels
//   kCrop       resize and centre crop, as classifiers are usually evaluated: the input region is
//               scaled until its shorter side has a given length, and its centre fills the output
//               region. The crop may begin within an input pixel
enum class Fit : uint8_t { kStretch, kLetterbox, kPanscan, kCrop };

struct FitOptions {
  Fit fit = Fit::kStretch;
  bool symmetric_padding = false;  // kLetterbox: centre the picture
  // kCrop: the length of the shorter side after scaling, in pixels. If the scaled region would not
  // cover the output region, it is scaled until it does; so 0 means the smallest size that does.
  uint32_t short_side = 0;
};

struct Placement {
  Region crop;     // the region of the input picture that is used
  Region content;  // the region of the output picture that is filled
  // The size to which `crop` is scaled. `content` is all of it; for kCrop, its centre.
  uint32_t scaled_width = 0;
  uint32_t scaled_height = 0;
};

// The affine map from the input picture to the output picture. Coordinates are in pixels, whose
// corners have integer coordinates (the centre of the first pixel is 0.5, 0.5):
//
//   output_x = (input_x - crop_x) * scale_x + pad_x
//   output_y = (input_y - crop_y) * scale_y + pad_y
//
// (crop_x, crop_y) is the corner of the part of the input that is used, which with kCrop may be
// within a pixel; (pad_x, pad_y) is the corner of the part of the output that it fills. The scales
// are those after sizes were rounded to whole pixels, so the map is exact.
struct Geometry {
  double scale_x = 1;
  double scale_y = 1;
  double crop_x = 0;
  double crop_y = 0;
  double pad_x = 0;
  double pad_y = 0;
};

// Computes the placement. Requirement: neither region is empty. Sizes are rounded to the nearest
// whole pixel and are at least 1. A letterboxed picture is at the top left of `output`; with
// `symmetric_padding` it is in the centre, and an odd pixel of padding is at the right or bottom.
Placement place(const FitOptions& options, const Region& input, const Region& output);

// Return the columns and the rows of the scaled region that `content` consists of.
OutputWindow columns_of(const Placement& placement);
OutputWindow rows_of(const Placement& placement);

Geometry geometry_of(const Placement& placement);

}  // namespace millrace::vision
