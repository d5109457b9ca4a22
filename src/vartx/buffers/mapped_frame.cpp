#include "vartx/buffers/mapped_frame.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/value_or_throw.h"
#include "vartx/buffers/frame_layout.h"
#include "vartx/buffers/unmap_quietly.h"

namespace millrace::vartx {
namespace {

using ::vart::VideoFrameMapInfo;
using ::vart::VideoPlaneInfo;

bool holds(const VideoPlaneInfo& plane, const PlaneLayout& needed) {
  if (plane.data == nullptr || plane.stride < 0 || plane.offset > plane.size) return false;
  const auto stride = static_cast<size_t>(plane.stride);
  // With a stride of 31 bits and fewer than 2^31 rows, the product fits in 64 bits.
  return stride >= needed.stride &&
         plane.size - plane.offset >= stride * (needed.rows - 1) + needed.stride;
}

// Returns the description with the offsets added to the addresses.
VideoFrameMapInfo check_planes(VideoFrameMapInfo info) {
  const FrameLayout layout =
      value_or_throw(frame_layout(info.fmt, info.width, info.height), "VideoFrame");
  if (info.nplanes < layout.plane_count)
    throw std::invalid_argument(fmt::format("VideoFrame: {} planes are mapped, but {} are needed",
                                            info.nplanes, layout.plane_count));
  for (size_t i = 0; i < layout.plane_count; ++i) {
    if (!holds(info.planes[i], layout.planes[i]))
      throw std::invalid_argument(fmt::format(
          "VideoFrame: plane {} is mapped without memory, or with less than {} rows of {} bytes "
          "need",
          i, layout.planes[i].rows, layout.planes[i].stride));
    info.planes[i].data += info.planes[i].offset;
    info.planes[i].offset = 0;
  }
  return info;
}

}  // namespace

MappedFrame::MappedFrame(::vart::VideoFrame& frame, ::vart::DataMapFlags flags)
    : frame_(frame), info_(frame.map(flags)) {
  try {
    info_ = check_planes(info_);
  } catch (...) {
    unmap_quietly(frame_);
    throw;
  }
}

MappedFrame::~MappedFrame() {
  unmap_quietly(frame_);
}

}  // namespace millrace::vartx
