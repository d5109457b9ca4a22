// The memory layouts of the video formats: for each plane, the bytes and pixels of a group and the
// vertical subsampling.
#include "vartx/buffers/frame_layout.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

namespace millrace::vartx {
namespace {

using ::vart::VideoFormat;

// A row of a plane consists of groups of `group_pixels` pixels of the picture in `group_bytes`
// bytes; a plane may have fewer rows than the picture.
struct PlaneShape {
  size_t group_bytes;
  size_t group_pixels;
  size_t rows_per_row;  // rows of the picture per row of the plane
};

struct FormatShape {
  std::vector<PlaneShape> planes;
  int32_t width_multiple = 1;
  int32_t height_multiple = 1;
};

FormatShape packed(size_t pixel_bytes) {
  return {.planes = {{pixel_bytes, 1, 1}}};
}

FormatShape three_planes(size_t pixel_bytes) {
  return {.planes = {3, {pixel_bytes, 1, 1}}};
}

FormatShape subsampled_shape(VideoFormat format) {
  switch (format) {
    case VideoFormat::Y_UV8_420:
      return {{{1, 1, 1}, {2, 2, 2}}, 2, 2};
    case VideoFormat::I420:
      return {{{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}, 2, 2};
    case VideoFormat::NV16:
      return {{{1, 1, 1}, {2, 2, 1}}, 2, 1};
    case VideoFormat::YUY2:
      return {{{4, 2, 1}}, 2, 1};
    case VideoFormat::I422_10LE:  // each 10-bit sample in 16 bits
      return {{{2, 1, 1}, {2, 2, 1}, {2, 2, 1}}, 2, 1};
    case VideoFormat::NV12_10LE32:  // three 10-bit samples in 32 bits
      return {{{4, 3, 1}, {4, 3, 2}}, 2, 2};
    case VideoFormat::GRAY10_LE32:
      return {.planes = {{4, 3, 1}}};
    default:
      return {};
  }
}

// Returns the shape of a format; one without planes for an undefined format.
FormatShape shape_of(VideoFormat format) {
  switch (format) {
    case VideoFormat::GRAY8:
      return packed(1);
    case VideoFormat::GRAY_BF16:
      return packed(2);
    case VideoFormat::RGB:
    case VideoFormat::BGR:
    case VideoFormat::v308:
      return packed(3);
    case VideoFormat::RGBx:
    case VideoFormat::BGRx:
    case VideoFormat::RGBA:
    case VideoFormat::BGRA:
    case VideoFormat::r210:
    case VideoFormat::Y410:
    case VideoFormat::GRAY32_FLOAT:
      return packed(4);
    case VideoFormat::RGB_FP16:
    case VideoFormat::RGB_BF16:
    case VideoFormat::BGR_FP16:
    case VideoFormat::BGR_BF16:
      return packed(6);
    case VideoFormat::RGBx_FP16:
    case VideoFormat::RGBx_BF16:
    case VideoFormat::BGRx_FP16:
    case VideoFormat::BGRx_BF16:
      return packed(8);
    case VideoFormat::RGB_FLOAT:
    case VideoFormat::BGR_FLOAT:
      return packed(12);
    case VideoFormat::RGBP:
    case VideoFormat::BGRP:
      return three_planes(1);
    case VideoFormat::RGBP_FP16:
    case VideoFormat::RGBP_BF16:
    case VideoFormat::BGRP_FP16:
    case VideoFormat::BGRP_BF16:
      return three_planes(2);
    case VideoFormat::RGBP_FLOAT:
    case VideoFormat::BGRP_FLOAT:
      return three_planes(4);
    default:
      return subsampled_shape(format);
  }
}

Status check_size(const FormatShape& shape, int32_t width, int32_t height) {
  if (width <= 0 || height <= 0)
    return invalid_argument(
        fmt::format("{} x {} pixels: width and height must be positive", width, height));
  if (width % shape.width_multiple == 0 && height % shape.height_multiple == 0) return {};
  return invalid_argument(
      fmt::format("{} x {} pixels: in this format {} x {} pixels share chroma samples, so width "
                  "and height must be multiples of these",
                  width, height, shape.width_multiple, shape.height_multiple));
}

}  // namespace

Result<FrameLayout> frame_layout(VideoFormat format, int32_t width, int32_t height) {
  const FormatShape shape = shape_of(format);
  if (shape.planes.empty())
    return invalid_argument(
        fmt::format("{} is not a known video format", static_cast<int>(format)));
  MILLRACE_RETURN_IF_ERROR(check_size(shape, width, height));
  FrameLayout layout;
  for (const PlaneShape& each : shape.planes) {
    const size_t groups = (static_cast<size_t>(width) + each.group_pixels - 1) / each.group_pixels;
    const size_t stride = groups * each.group_bytes;
    // With fewer than 2^31 rows, of three planes at most, the sum fits in 64 bits.
    if (stride > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
      return invalid_argument(
          fmt::format("{} pixels need rows of {} bytes, but a row must be "
                      "smaller than 2 GiB",
                      width, stride));
    const PlaneLayout plane{layout.bytes, stride, static_cast<size_t>(height) / each.rows_per_row};
    layout.planes[layout.plane_count++] = plane;
    layout.bytes += plane.bytes();
  }
  return layout;
}

Result<::vart::VideoInfo> tight_video_info(VideoFormat format, int32_t width, int32_t height) {
  MILLRACE_ASSIGN_OR_RETURN(const FrameLayout layout, frame_layout(format, width, height));
  ::vart::VideoInfo info{};
  info.width = width;
  info.height = height;
  info.fmt = format;
  info.n_planes = static_cast<uint32_t>(layout.plane_count);
  for (size_t i = 0; i < layout.plane_count; ++i) {
    info.stride[i] = layout.planes[i].stride;
    info.elevation[i] = layout.planes[i].rows;
    info.alignment.stride_align[i] = 1;
  }
  return info;
}

}  // namespace millrace::vartx
