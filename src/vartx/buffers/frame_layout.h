// FrameLayout: the memory layout of the planes of a picture of a given video format and size. Rows
// and planes are contiguous, without padding. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "vart/vart_videoframe_types.hpp"

namespace millrace::vartx {

struct PlaneLayout {
  size_t offset = 0;  // bytes from the first byte of the picture
  size_t stride = 0;  // bytes per row
  size_t rows = 0;
  size_t bytes() const noexcept { return stride * rows; }
};

struct FrameLayout {
  size_t plane_count = 0;  // 1 to VART_VIDEO_MAX_PLANES
  size_t bytes = 0;        // size of all planes
  std::array<PlaneLayout, VART_VIDEO_MAX_PLANES> planes;
};

// Returns the layout of a picture. kInvalidArgument, with the reason, for UNKNOWN and undefined
// formats, for a width or height that is not positive or not a multiple of the format's chroma
// subsampling, and for rows of more than 2^31 - 1 bytes.
Result<FrameLayout> frame_layout(::vart::VideoFormat format, int32_t width, int32_t height);

// Returns the description of a picture without padding, with every field set. Fails as
// frame_layout() does.
Result<::vart::VideoInfo> tight_video_info(::vart::VideoFormat format, int32_t width,
                                           int32_t height);

}  // namespace millrace::vartx
