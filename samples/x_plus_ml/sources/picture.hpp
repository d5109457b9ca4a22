// Pictures as they come in: in BGR or in NV12, in memory that preprocessing reads in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "vart/vart_device.hpp"
#include "vart/vart_videoframe.hpp"

// The memory of one picture after the other; pictures of the same size and format share it. To be
// used by one thread at a time.
class PictureBuffer {
 public:
  explicit PictureBuffer(std::shared_ptr<vart::Device> device);

  // A frame of that size (pixels) and format (BGR or Y_UV8_420), to be filled. Throws exceptions
  // derived from std::exception for a size that the format cannot have; then there is no picture.
  vart::VideoFrame& resize(vart::VideoFormat format, int width, int height);
  // The frame of the last resize, which has succeeded.
  vart::VideoFrame& frame() { return *frame_; }

 private:
  std::shared_ptr<vart::Device> device_;
  std::unique_ptr<vart::VideoFrame> frame_;
};

// The rows of a frame in BGR or Y_UV8_420, mapped as long as the object lives.
class MappedPicture {
 public:
  MappedPicture(vart::VideoFrame& frame, vart::DataMapFlags flags);
  ~MappedPicture() { frame_.unmap(); }
  MappedPicture(const MappedPicture&) = delete;
  MappedPicture& operator=(const MappedPicture&) = delete;

  int planes() const { return map_.nplanes; }
  int rows(int plane) const { return plane == 0 ? map_.height : map_.height / 2; }
  std::size_t row_bytes() const;  // of each plane
  std::size_t stride(int plane) const {
    return static_cast<std::size_t>(map_.planes[plane].stride);
  }
  uint8_t* row(int plane, int row) const;

 private:
  vart::VideoFrame& frame_;
  const vart::VideoFrameMapInfo& map_;
};
