// VART-X frames: pixel formats and descriptions of pictures in memory.
//
// Units: width, height, padding and elevation count pixels (or rows); stride, size and offset count
// bytes. The structures are plain data, and their members are whatever the program sets: a frame's
// constructor reads width, height and fmt of a VideoInfo, and derives the rest.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no name outside namespace vart, and one macro, which is part of the API. C++17 and
// later.
#ifndef VART_VART_VIDEOFRAME_TYPES_HPP
#define VART_VART_VIDEOFRAME_TYPES_HPP

#include <cstddef>
#include <cstdint>

#define VART_VIDEO_MAX_PLANES 4

namespace vart {

//   XRT      memory of the device, shareable as a file descriptor
//   NON_CMA  ordinary host memory
enum class VideoFrameImplType { XRT, NON_CMA };

// Packed formats name their channels in memory order, an "x" is a padding lane of value 0. A "P"
// after the channels means one plane per channel. Channels have 8 bits, unless the name ends in
// FP16, BF16 or FLOAT (32 bits). The order up to GRAY_BF16 is published; programs use names.
enum class VideoFormat {
  UNKNOWN = 0,
  Y_UV8_420,  // NV12: a plane of Y, and one of interleaved UV with half the rows
  RGBx,
  r210,
  Y410,
  BGRx,
  BGRA,
  RGBA,
  YUY2,
  NV16,
  RGB,
  v308,
  BGR,
  I422_10LE,
  NV12_10LE32,
  GRAY8,
  GRAY10_LE32,
  I420,
  RGBP,
  BGR_FLOAT,
  RGB_FLOAT,
  RGBP_FLOAT,
  GRAY32_FLOAT,
  RGBx_BF16,
  BGRx_BF16,
  GRAY_BF16,
  RGBx_FP16,
  BGRx_FP16,
  RGB_FP16,
  RGB_BF16,
  RGBP_FP16,
  RGBP_BF16,
  BGR_FP16,
  BGR_BF16,
  BGRP,
  BGRP_FP16,
  BGRP_BF16,
  BGRP_FLOAT
};

struct VideoAlignment {
  uint32_t padding_right;
  uint32_t padding_left;
  uint32_t padding_top;
  uint32_t padding_bottom;
  uint32_t stride_align[VART_VIDEO_MAX_PLANES];
};

// The size, format and memory layout of a picture.
struct VideoInfo {
  int32_t width;
  int32_t height;
  VideoFormat fmt;
  uint32_t n_planes;
  size_t stride[VART_VIDEO_MAX_PLANES];
  size_t elevation[VART_VIDEO_MAX_PLANES];
  VideoAlignment alignment;
};

// One plane of a mapped frame. `data` is its first pixel: `offset` is 0 and `stride` is the size of
// a row without padding.
struct VideoPlaneInfo {
  uint8_t* data;
  uint64_t phy_addr;
  size_t size;
  size_t offset;
  int32_t stride;
  int32_t elevation;
};

// A mapped frame; the planes are in use up to `nplanes`.
struct VideoFrameMapInfo {
  uint8_t nplanes;
  size_t size;
  int32_t width;
  int32_t height;
  VideoFormat fmt;
  VideoAlignment alignment;
  VideoPlaneInfo planes[VART_VIDEO_MAX_PLANES];
  void* usr_meta;
};

}  // namespace vart

#endif  // VART_VART_VIDEOFRAME_TYPES_HPP
