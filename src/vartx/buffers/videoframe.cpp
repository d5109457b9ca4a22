// vart::VideoFrame over memory::Buffer: allocates, wraps or finds the memory of a picture, and maps
// all its planes together.
#include "vart/vart_videoframe.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "memory/buffer_handle.h"
#include "vartx/buffers/frame_layout.h"
#include "vartx/buffers/mapped_buffer.h"

namespace vart {

using millrace::value_or_throw;
using millrace::memory::Buffer;
using millrace::memory::BufferHandle;
using millrace::memory::BufferKind;
using millrace::vartx::FrameLayout;
using millrace::vartx::MappedBuffer;

// The state of a VideoFrame: a picture in one buffer, or in one buffer per plane. Rows are not
// padded (frame_layout.h). `mapped` is filled in once, since addresses do not change.
class VideoFrameImplBase {
 public:
  VideoFrameImplBase(VideoFrameImplType type, const VideoInfo& info, const FrameLayout& layout,
                     std::vector<Buffer> buffers, std::shared_ptr<Device> device);

  const VideoInfo info;
  const std::shared_ptr<Device> device;
  std::vector<MappedBuffer> buffers;
  VideoFrameMapInfo mapped{};
};

namespace {

constexpr const char* kWhat = "VideoFrame";

BufferKind kind_of(VideoFrameImplType type) {
  switch (type) {
    case VideoFrameImplType::XRT:
      return BufferKind::kShared;
    case VideoFrameImplType::NON_CMA:
      return BufferKind::kHeap;
  }
  throw std::invalid_argument("VideoFrame: the type is neither XRT nor NON_CMA");
}

// Returns the layout for a description in which the program may have set only format and size.
FrameLayout layout_of(const VideoInfo& given) {
  return value_or_throw(millrace::vartx::frame_layout(given.fmt, given.width, given.height), kWhat);
}

VideoInfo tight_info(const VideoInfo& given) {
  return value_or_throw(millrace::vartx::tight_video_info(given.fmt, given.width, given.height),
                        kWhat);
}

VideoPlaneInfo plane_info(const millrace::vartx::PlaneLayout& layout, const MappedBuffer& memory,
                          size_t offset) {
  VideoPlaneInfo plane{};
  plane.data = reinterpret_cast<uint8_t*>(memory.buffer().data()) + offset;
  const uint64_t address = memory.device_address();
  plane.phy_addr = address == 0 ? 0 : address + offset;
  plane.size = layout.bytes();
  plane.stride = static_cast<int32_t>(layout.stride);
  plane.elevation = static_cast<int32_t>(layout.rows);
  return plane;
}

std::shared_ptr<VideoFrameImplBase> make(VideoFrameImplType type, const VideoInfo& given,
                                         std::vector<Buffer> buffers,
                                         std::shared_ptr<Device> device) {
  return std::make_shared<VideoFrameImplBase>(type, tight_info(given), layout_of(given),
                                              std::move(buffers), std::move(device));
}

std::shared_ptr<VideoFrameImplBase> allocate(VideoFrameImplType type, size_t size,
                                             const VideoInfo& given,
                                             std::shared_ptr<Device> device) {
  const size_t needed = layout_of(given).bytes;
  if (size < needed)
    throw std::invalid_argument(
        fmt::format("VideoFrame: {} x {} pixels of format {} need {} bytes, but the frame has {}",
                    given.width, given.height, static_cast<int>(given.fmt), needed, size));
  return make(type, given, {value_or_throw(Buffer::allocate(size, kind_of(type)), kWhat)},
              std::move(device));
}

void check_count(const char* what, size_t given, size_t planes) {
  if (given >= planes) return;
  throw std::invalid_argument(
      fmt::format("VideoFrame: {} {} are given for a picture of {} planes", given, what, planes));
}

std::vector<Buffer> wrap(const std::vector<uint8_t*>& pointers, const FrameLayout& layout) {
  check_count("pointers", pointers.size(), layout.plane_count);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < layout.plane_count; ++i)
    buffers.push_back(value_or_throw(Buffer::wrap(pointers[i], layout.planes[i].bytes()), kWhat));
  return buffers;
}

Buffer find(const xrt::bo* object, size_t bytes) {
  Buffer found = BufferHandle::find(object);
  if (!found)
    throw std::invalid_argument("VideoFrame: a pointer does not refer to a live buffer object");
  if (found.size() < bytes)
    throw std::invalid_argument(fmt::format(
        "VideoFrame: a buffer object has {} bytes, but {} are needed", found.size(), bytes));
  return found;
}

std::vector<Buffer> find(const std::vector<xrt::bo*>& objects, const FrameLayout& layout) {
  if (objects.size() == 1) return {find(objects[0], layout.bytes)};
  check_count("buffer objects", objects.size(), layout.plane_count);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < layout.plane_count; ++i)
    buffers.push_back(find(objects[i], layout.planes[i].bytes()));
  return buffers;
}

}  // namespace

VideoFrameImplBase::VideoFrameImplBase(VideoFrameImplType type, const VideoInfo& info,
                                       const FrameLayout& layout, std::vector<Buffer> memory,
                                       std::shared_ptr<Device> device)
    : info(info), device(std::move(device)) {
  mapped.nplanes = static_cast<uint8_t>(layout.plane_count);
  mapped.size = layout.bytes;
  mapped.width = info.width;
  mapped.height = info.height;
  mapped.fmt = info.fmt;
  mapped.alignment = info.alignment;
  const auto side =
      type == VideoFrameImplType::XRT ? MappedBuffer::Side::kDevice : MappedBuffer::Side::kHost;
  for (Buffer& each : memory) buffers.emplace_back(std::move(each), side);
  const bool whole = buffers.size() == 1;
  for (size_t i = 0; i < layout.plane_count; ++i)
    mapped.planes[i] =
        plane_info(layout.planes[i], buffers[whole ? 0 : i], whole ? layout.planes[i].offset : 0);
}

VideoFrame::VideoFrame(VideoFrameImplType type, size_t size, uint8_t, VideoInfo& vinfo,
                       std::shared_ptr<Device> device)
    : impl_(allocate(type, size, vinfo, std::move(device))) {}

VideoFrame::VideoFrame(VideoFrameImplType type, std::vector<uint8_t*>& data_vec, VideoInfo& vinfo,
                       std::shared_ptr<Device> device)
    : impl_(make(type, vinfo, wrap(data_vec, layout_of(vinfo)), std::move(device))) {}

VideoFrame::VideoFrame(VideoFrameImplType type, uint8_t, std::vector<xrt::bo*>& bo_vec,
                       VideoInfo& vinfo, std::shared_ptr<Device> device)
    : impl_(make(type, vinfo, find(bo_vec, layout_of(vinfo)), std::move(device))) {}

VideoFrame::VideoFrame(std::shared_ptr<VideoFrameImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("VideoFrame: the handle is null");
}

const VideoFrameMapInfo& VideoFrame::map(DataMapFlags flags) {
  std::vector<MappedBuffer>& buffers = impl_->buffers;
  size_t mapped = 0;
  try {
    for (; mapped < buffers.size(); ++mapped) buffers[mapped].map(flags);
  } catch (...) {
    while (mapped > 0) buffers[--mapped].unmap();
    throw;
  }
  return impl_->mapped;
}

void VideoFrame::unmap() {
  for (MappedBuffer& buffer : impl_->buffers) buffer.unmap();
}

const VideoInfo& VideoFrame::get_video_info() const {
  return impl_->info;
}

int VideoFrame::export_buffer() const {
  // Planes in separate buffers have no common descriptor.
  return impl_->buffers.size() == 1 ? impl_->buffers.front().export_fd() : -1;
}

std::shared_ptr<Device> VideoFrame::get_device_handle() const {
  return impl_->device;
}

const std::shared_ptr<VideoFrameImplBase>& VideoFrame::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
