// MappedFrame: maps a frame in the constructor and unmaps it in the destructor.
#pragma once

#include "vart/vart_videoframe.hpp"

namespace millrace::vartx {

class MappedFrame {
 public:
  // Throws what VideoFrame::map throws, and std::invalid_argument when the planes of a frame of the
  // program's own kind are fewer or smaller than its size and format need. The frame must outlive
  // this object.
  MappedFrame(::vart::VideoFrame& frame, ::vart::DataMapFlags flags);
  ~MappedFrame();
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  // The offsets of the planes are 0: `data` is the first pixel.
  const ::vart::VideoFrameMapInfo& info() const { return info_; }

 private:
  ::vart::VideoFrame& frame_;
  ::vart::VideoFrameMapInfo info_;
};

}  // namespace millrace::vartx
