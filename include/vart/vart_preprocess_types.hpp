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
//   LETTERBOX  keeps the aspect ratio inside out_roi and pads the rest
//   PANSCAN    keeps the aspect ratio and crops in_roi around its centre
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
  bool symmetric_padding;  // LETTERBOX only: pads both sides, not right and bottom alone
};

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

}  // namespace vart

#endif  // VART_VART_PREPROCESS_TYPES_HPP
