// MappedFrame: maps a frame in the constructor and unmaps it in the destructor.
#pragma once

#include "vart/vart_videoframe.hpp"

namespace millrace::vartx {

class MappedFrame {
 public:
  // Throws what VideoFrame::map throws. The frame must outlive this object.
  MappedFrame(::vart::VideoFrame& frame, ::vart::DataMapFlags flags)
      : frame_(frame), info_(frame.map(flags)) {}
  ~MappedFrame() { frame_.unmap(); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  const ::vart::VideoFrameMapInfo& info() const { return info_; }

 private:
  ::vart::VideoFrame& frame_;
  const ::vart::VideoFrameMapInfo& info_;
};

}  // namespace millrace::vartx
