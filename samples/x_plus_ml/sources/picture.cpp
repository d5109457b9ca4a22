#include "sources/picture.hpp"

#include <utility>

namespace {

constexpr uint8_t kBank = 2;  // as on the board; any is accepted elsewhere

bool looks_like(const vart::VideoInfo& info, const vart::VideoInfo& other) {
  return info.fmt == other.fmt && info.width == other.width && info.height == other.height;
}

// Without padding.
std::size_t bytes_of(const vart::VideoInfo& info) {
  const std::size_t pixels = static_cast<std::size_t>(info.width) * info.height;
  return info.fmt == vart::VideoFormat::BGR ? pixels * 3 : pixels * 3 / 2;
}

}  // namespace

PictureBuffer::PictureBuffer(std::shared_ptr<vart::Device> device) : device_(std::move(device)) {}

vart::VideoFrame& PictureBuffer::resize(vart::VideoFormat format, int width, int height) {
  vart::VideoInfo info{};
  info.width = width;
  info.height = height;
  info.fmt = format;
  info.n_planes = format == vart::VideoFormat::BGR ? 1 : 2;
  if (frame_ != nullptr && looks_like(frame_->get_video_info(), info)) return *frame_;
  frame_.reset();
  frame_ = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT, bytes_of(info), kBank,
                                              info, device_);
  return *frame_;
}

MappedPicture::MappedPicture(vart::VideoFrame& frame, vart::DataMapFlags flags)
    : frame_(frame), map_(frame.map(flags)) {}

std::size_t MappedPicture::row_bytes() const {
  const auto width = static_cast<std::size_t>(map_.width);
  return map_.fmt == vart::VideoFormat::BGR ? width * 3 : width;
}

uint8_t* MappedPicture::row(int plane, int row) const {
  const vart::VideoPlaneInfo& info = map_.planes[plane];
  return info.data + info.offset + static_cast<std::size_t>(row) * stride(plane);
}
