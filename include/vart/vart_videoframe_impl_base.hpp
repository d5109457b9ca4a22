// VART-X frames: what is behind a vart::VideoFrame, for programs that bring frames of their own.
//
// Sources: the published VART-X documentation says that every module has such a base class to
// derive from; its functions are inferred from those of the class that programs call. Defines no
// macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_VIDEOFRAME_IMPL_BASE_HPP
#define VART_VART_VIDEOFRAME_IMPL_BASE_HPP

#include <memory>

#include "vart/vart_device.hpp"
#include "vart/vart_memory_types.hpp"
#include "vart/vart_videoframe_types.hpp"

#pragma GCC visibility push(default)

namespace vart {

// VideoFrame calls the function of the same name. Functions of this library that are given a
// VideoFrame use it in no other way, and map it on the thread that calls them. They refuse a frame
// whose planes are fewer or smaller than its size and format need, with std::invalid_argument; rows
// may be longer. A plane begins `offset` bytes after `data`.
class VideoFrameImplBase {
 public:
  virtual ~VideoFrameImplBase();
  VideoFrameImplBase(const VideoFrameImplBase&) = delete;
  VideoFrameImplBase& operator=(const VideoFrameImplBase&) = delete;

  // The result is valid until unmap().
  virtual const VideoFrameMapInfo& map(DataMapFlags flags) = 0;
  virtual void unmap() = 0;
  virtual const VideoInfo& get_video_info() const = 0;
  virtual std::shared_ptr<Device> get_device_handle() const = 0;
  // Unless overridden, -1: there is no descriptor.
  virtual int export_buffer() const;

 protected:
  VideoFrameImplBase() = default;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_VIDEOFRAME_IMPL_BASE_HPP
