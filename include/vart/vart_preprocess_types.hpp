// VART-X preprocessing: what is done to a picture before a network sees it.
//
// Units: pixels. Every structure is plain data and may be value-initialised with {}.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro of its own and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_PREPROCESS_TYPES_HPP
#define VART_VART_PREPROCESS_TYPES_HPP

#include <cstdint>

#include "vart/vart_videoframe_types.hpp"

namespace vart {

class VideoFrame;

// Programmable logic on a board, or the processor.
enum class PreProcessImplType { IMAGE_PROCESSING_HLS, IMAGE_PROCESSING_SW };

//   DEFAULT    stretches in_roi to out_roi
//   LETTERBOX  keeps the aspect ratio inside out_roi, at its top left, and pads the rest
//   PANSCAN    keeps the aspect ratio: uses the centre of in_roi that has the one of out_roi
enum class PreProcessType { DEFAULT, LETTERBOX, PANSCAN };

// y = (x - mean) * scale for each channel, then times qt_fctr. The size and the format are those of
// the output. Note that height comes before width.
struct PreProcessInfo {
  float qt_fctr;
  float mean_r;
  float mean_g;
  float mean_b;
  float scale_r;
  float scale_g;
  float scale_b;
  uint32_t height;
  uint32_t width;
  VideoFormat colour_format;
  PreProcessType preprocess_type;
  bool symmetric_padding;  // LETTERBOX only: in the centre of out_roi, not at its top left
};

// Part of a frame. All zero, as programs get by not setting it, it is the whole frame.
struct RegionOfInterest {
  uint16_t x;
  uint16_t y;
  uint16_t height;
  uint16_t width;
};

// One picture's way through the function; the frames stay the caller's.
struct PreProcessOp {
  RegionOfInterest in_roi;
  RegionOfInterest out_roi;
  VideoFrame* in_frame = nullptr;
  VideoFrame* out_frame = nullptr;
};

// The mapping of pixels of the input frame to pixels of the output frame, the model's input:
//
//   model_x = (frame_x - crop_x) * scale_x + pad_x
//   model_y = (frame_y - crop_y) * scale_y + pad_y
//
// Coordinates are those of the frames, not of the regions, and whole at the corners of pixels: the
// centre of the first pixel is 0.5. crop is the top left corner of what was used of the input, pad
// that of what it fills in the output, which the padding of LETTERBOX surrounds. The scales are
// exact: the size of the latter divided by that of the former, both in whole pixels.
struct PreProcessTypeMeta {
  float scale_x = 0;
  float scale_y = 0;
  float crop_x = 0;  // pixels of the input frame
  float crop_y = 0;
  float pad_x = 0;  // pixels of the output frame
  float pad_y = 0;
};

// The result of one PreProcessOp.
struct PreProcessOpRes {
  PreProcessTypeMeta type_meta;
};

}  // namespace vart

#endif  // VART_VART_PREPROCESS_TYPES_HPP
