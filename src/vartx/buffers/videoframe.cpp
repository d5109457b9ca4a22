// vart::VideoFrame, which calls its implementation, and the two that this library has, over
// FrameBuffers: one for memory of the device and one for memory of the host.
#include "vart/vart_videoframe.hpp"

#include <stdexcept>
#include <utility>

#include "vart/vart_videoframe_impl_xrt.hpp"
#include "vartx/buffers/frame_buffers.h"

namespace vart {
namespace {

class HostFrame final : public VideoFrameImplBase {
 public:
  explicit HostFrame(std::unique_ptr<FrameBuffers> buffers) : buffers_(std::move(buffers)) {}

  const VideoFrameMapInfo& map(DataMapFlags flags) override { return buffers_->map(flags); }
  void unmap() override { buffers_->unmap(); }
  const VideoInfo& get_video_info() const override { return buffers_->info(); }
  std::shared_ptr<Device> get_device_handle() const override { return buffers_->device(); }
  int export_buffer() const override { return buffers_->export_fd(); }

 private:
  const std::unique_ptr<FrameBuffers> buffers_;
};

}  // namespace

VideoFrameImplBase::~VideoFrameImplBase() = default;

int VideoFrameImplBase::export_buffer() const {
  return -1;
}

VideoFrameImplXRT::VideoFrameImplXRT(size_t size, uint8_t, VideoInfo& vinfo,
                                     std::shared_ptr<Device> device)
    : buffers_(FrameBuffers::allocate(VideoFrameImplType::XRT, size, vinfo, std::move(device))) {}

VideoFrameImplXRT::VideoFrameImplXRT(std::vector<uint8_t*>& data_vec, VideoInfo& vinfo,
                                     std::shared_ptr<Device> device)
    : buffers_(FrameBuffers::wrap(VideoFrameImplType::XRT, data_vec, vinfo, std::move(device))) {}

VideoFrameImplXRT::VideoFrameImplXRT(uint8_t, std::vector<xrt::bo*>& bo_vec, VideoInfo& vinfo,
                                     std::shared_ptr<Device> device)
    : buffers_(FrameBuffers::find(VideoFrameImplType::XRT, bo_vec, vinfo, std::move(device))) {}

VideoFrameImplXRT::~VideoFrameImplXRT() = default;

const VideoFrameMapInfo& VideoFrameImplXRT::map(DataMapFlags flags) {
  return buffers_->map(flags);
}

void VideoFrameImplXRT::unmap() {
  buffers_->unmap();
}

const VideoInfo& VideoFrameImplXRT::get_video_info() const {
  return buffers_->info();
}

std::shared_ptr<Device> VideoFrameImplXRT::get_device_handle() const {
  return buffers_->device();
}

int VideoFrameImplXRT::export_buffer() const {
  return buffers_->export_fd();
}

VideoFrame::VideoFrame(VideoFrameImplType type, size_t size, uint8_t mbank_idx, VideoInfo& vinfo,
                       std::shared_ptr<Device> device) {
  if (type == VideoFrameImplType::XRT)
    impl_ = std::make_shared<VideoFrameImplXRT>(size, mbank_idx, vinfo, std::move(device));
  else
    impl_ =
        std::make_shared<HostFrame>(FrameBuffers::allocate(type, size, vinfo, std::move(device)));
}

VideoFrame::VideoFrame(VideoFrameImplType type, std::vector<uint8_t*>& data_vec, VideoInfo& vinfo,
                       std::shared_ptr<Device> device) {
  if (type == VideoFrameImplType::XRT)
    impl_ = std::make_shared<VideoFrameImplXRT>(data_vec, vinfo, std::move(device));
  else
    impl_ =
        std::make_shared<HostFrame>(FrameBuffers::wrap(type, data_vec, vinfo, std::move(device)));
}

VideoFrame::VideoFrame(VideoFrameImplType type, uint8_t mbank_idx, std::vector<xrt::bo*>& bo_vec,
                       VideoInfo& vinfo, std::shared_ptr<Device> device) {
  if (type == VideoFrameImplType::XRT)
    impl_ = std::make_shared<VideoFrameImplXRT>(mbank_idx, bo_vec, vinfo, std::move(device));
  else
    impl_ = std::make_shared<HostFrame>(FrameBuffers::find(type, bo_vec, vinfo, std::move(device)));
}

VideoFrame::VideoFrame(std::shared_ptr<VideoFrameImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("VideoFrame: the handle is null");
}

const VideoFrameMapInfo& VideoFrame::map(DataMapFlags flags) {
  return impl_->map(flags);
}

void VideoFrame::unmap() {
  impl_->unmap();
}

const VideoInfo& VideoFrame::get_video_info() const {
  return impl_->get_video_info();
}

int VideoFrame::export_buffer() const {
  return impl_->export_buffer();
}

std::shared_ptr<Device> VideoFrame::get_device_handle() const {
  return impl_->get_device_handle();
}

const std::shared_ptr<VideoFrameImplBase>& VideoFrame::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
