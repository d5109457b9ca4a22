#include "vartx/buffers/frame_buffers.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/value_or_throw.h"
#include "memory/buffer_handle.h"
#include "vartx/buffers/frame_layout.h"

namespace vart {

using millrace::value_or_throw;
using millrace::memory::Buffer;
using millrace::memory::BufferHandle;
using millrace::memory::BufferKind;
using millrace::vartx::FrameLayout;
using millrace::vartx::MappedBuffer;

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

Buffer allocate_for(VideoFrameImplType type, size_t size, const VideoInfo& given) {
  const size_t needed = layout_of(given).bytes;
  if (size < needed)
    throw std::invalid_argument(
        fmt::format("VideoFrame: {} x {} pixels of format {} need {} bytes, but the frame has {}",
                    given.width, given.height, static_cast<int>(given.fmt), needed, size));
  return value_or_throw(Buffer::allocate(size, kind_of(type)), kWhat);
}

void check_count(const char* what, size_t given, size_t planes) {
  if (given >= planes) return;
  throw std::invalid_argument(
      fmt::format("VideoFrame: {} {} are given for a picture of {} planes", given, what, planes));
}

std::vector<Buffer> wrap_all(const std::vector<uint8_t*>& pointers, const FrameLayout& layout) {
  check_count("pointers", pointers.size(), layout.plane_count);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < layout.plane_count; ++i)
    buffers.push_back(value_or_throw(Buffer::wrap(pointers[i], layout.planes[i].bytes()), kWhat));
  return buffers;
}

Buffer find_one(const xrt::bo* object, size_t bytes) {
  Buffer found = BufferHandle::find(object);
  if (!found)
    throw std::invalid_argument("VideoFrame: a pointer does not refer to a live buffer object");
  if (found.size() < bytes)
    throw std::invalid_argument(fmt::format(
        "VideoFrame: a buffer object has {} bytes, but {} are needed", found.size(), bytes));
  return found;
}

std::vector<Buffer> find_all(const std::vector<xrt::bo*>& objects, const FrameLayout& layout) {
  if (objects.size() == 1) return {find_one(objects[0], layout.bytes)};
  check_count("buffer objects", objects.size(), layout.plane_count);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < layout.plane_count; ++i)
    buffers.push_back(find_one(objects[i], layout.planes[i].bytes()));
  return buffers;
}

}  // namespace

FrameBuffers::FrameBuffers(VideoFrameImplType type, const VideoInfo& given,
                           std::vector<Buffer> buffers, std::shared_ptr<Device> device)
    : info_(tight_info(given)), device_(std::move(device)) {
  const FrameLayout layout = layout_of(given);
  mapped_.nplanes = static_cast<uint8_t>(layout.plane_count);
  mapped_.size = layout.bytes;
  mapped_.width = info_.width;
  mapped_.height = info_.height;
  mapped_.fmt = info_.fmt;
  mapped_.alignment = info_.alignment;
  const auto side =
      type == VideoFrameImplType::XRT ? MappedBuffer::Side::kDevice : MappedBuffer::Side::kHost;
  for (Buffer& each : buffers) buffers_.emplace_back(std::move(each), side);
  const bool whole = buffers_.size() == 1;
  for (size_t i = 0; i < layout.plane_count; ++i)
    mapped_.planes[i] =
        plane_info(layout.planes[i], buffers_[whole ? 0 : i], whole ? layout.planes[i].offset : 0);
}

std::unique_ptr<FrameBuffers> FrameBuffers::allocate(VideoFrameImplType type, size_t size,
                                                     const VideoInfo& given,
                                                     std::shared_ptr<Device> device) {
  return std::unique_ptr<FrameBuffers>(
      new FrameBuffers(type, given, {allocate_for(type, size, given)}, std::move(device)));
}

std::unique_ptr<FrameBuffers> FrameBuffers::wrap(VideoFrameImplType type,
                                                 const std::vector<uint8_t*>& pointers,
                                                 const VideoInfo& given,
                                                 std::shared_ptr<Device> device) {
  return std::unique_ptr<FrameBuffers>(
      new FrameBuffers(type, given, wrap_all(pointers, layout_of(given)), std::move(device)));
}

std::unique_ptr<FrameBuffers> FrameBuffers::find(VideoFrameImplType type,
                                                 const std::vector<xrt::bo*>& objects,
                                                 const VideoInfo& given,
                                                 std::shared_ptr<Device> device) {
  return std::unique_ptr<FrameBuffers>(
      new FrameBuffers(type, given, find_all(objects, layout_of(given)), std::move(device)));
}

const VideoFrameMapInfo& FrameBuffers::map(DataMapFlags flags) {
  size_t mapped = 0;
  try {
    for (; mapped < buffers_.size(); ++mapped) buffers_[mapped].map(flags);
  } catch (...) {
    while (mapped > 0) buffers_[--mapped].unmap();
    throw;
  }
  return mapped_;
}

void FrameBuffers::unmap() {
  for (MappedBuffer& buffer : buffers_) buffer.unmap();
}

int FrameBuffers::export_fd() const {
  return buffers_.size() == 1 ? buffers_.front().export_fd() : -1;
}

}  // namespace vart
