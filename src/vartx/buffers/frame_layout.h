// FrameLayout: how the planes of a picture lie in memory, by its format and size. Rows and planes
// are without padding. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "vart/vart_videoframe_types.hpp"

namespace millrace::vartx {

struct PlaneLayout {
  size_t offset = 0;  // bytes from the first byte of the picture
  size_t stride = 0;  // bytes of a row
  size_t rows = 0;
  size_t bytes() const noexcept { return stride * rows; }
};

struct FrameLayout {
  size_t plane_count = 0;  // 1 to VART_VIDEO_MAX_PLANES
  size_t bytes = 0;        // of all planes
  std::array<PlaneLayout, VART_VIDEO_MAX_PLANES> planes;
};

// kInvalidArgument, with the reason, for UNKNOWN and values that are no format, for a width or
// height that is not positive, that the format's subsampling does not divide, or that makes a row
// of more than 2^31 - 1 bytes.
Result<FrameLayout> frame_layout(::vart::VideoFormat format, int32_t width, int32_t height);

// The description of a picture without padding: every field is set. Fails as frame_layout does.
Result<::vart::VideoInfo> tight_video_info(::vart::VideoFormat format, int32_t width,
                                           int32_t height);

}  // namespace millrace::vartx
