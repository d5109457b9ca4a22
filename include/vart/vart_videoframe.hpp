// VART-X frames: pictures in memory of the device or the host.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro of its own and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_VIDEOFRAME_HPP
#define VART_VART_VIDEOFRAME_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vart/vart_device.hpp"
#include "vart/vart_memory_types.hpp"
#include "vart/vart_videoframe_impl_base.hpp"
#include "vart/vart_videoframe_types.hpp"
#include "xrt/xrt_bo.h"

#pragma GCC visibility push(default)

namespace vart {

// A handle to a picture; copies share it. Rows and planes lie without padding: the size in bytes is
// exactly what width, height and format need. May move between threads; not to be used by two at
// the same time. Constructors and map throw exceptions derived from std::exception.
class VideoFrame {
 public:
  VideoFrame() = delete;

  // Allocates a frame of `size` bytes in the bank `mbank_idx`; any bank is accepted.
  VideoFrame(VideoFrameImplType type, size_t size, uint8_t mbank_idx, VideoInfo& vinfo,
             std::shared_ptr<Device> device);
  // Wraps one pointer per plane, the caller's, which must outlive every copy.
  VideoFrame(VideoFrameImplType type, std::vector<uint8_t*>& data_vec, VideoInfo& vinfo,
             std::shared_ptr<Device> device);
  // Wraps one buffer object per plane, the caller's, which must outlive every copy.
  VideoFrame(VideoFrameImplType type, uint8_t mbank_idx, std::vector<xrt::bo*>& bo_vec,
             VideoInfo& vinfo, std::shared_ptr<Device> device);
  // A frame of the program's own kind. Throws std::invalid_argument when `impl` is null.
  explicit VideoFrame(std::shared_ptr<VideoFrameImplBase> impl);

  // The planes' addresses; the reference is valid until unmap. Mapping again without an unmap, and
  // never unmapping, are allowed.
  const VideoFrameMapInfo& map(DataMapFlags flags);
  void unmap();

  const VideoInfo& get_video_info() const;
  // A new file descriptor of the picture's memory, the caller's to close; negative on failure. The
  // memory behind it stays the same for the life of the frame.
  int export_buffer() const;

  std::shared_ptr<Device> get_device_handle() const;
  const std::shared_ptr<VideoFrameImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<VideoFrameImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_VIDEOFRAME_HPP
