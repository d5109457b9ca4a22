// VART-X frames: the implementation of frames in memory of the device, and the buffer objects and
// devices of XRT, which older programs take from this header.
//
// Sources: the name of the header and that of its class are published; the functions of the class
// are inferred from those of vart::VideoFrame. Defines no macro of its own and no name outside
// namespace vart. C++17 and later.
#ifndef VART_VART_VIDEOFRAME_IMPL_XRT_HPP
#define VART_VART_VIDEOFRAME_IMPL_XRT_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vart/vart_videoframe.hpp"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

namespace vart {
class FrameBuffers;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// get_pimpl_handle() of a VideoFrame of type XRT points to one, unless the program has brought
// another implementation. The constructors and functions are those of VideoFrame.
class VideoFrameImplXRT : public VideoFrameImplBase {
 public:
  VideoFrameImplXRT(size_t size, uint8_t mbank_idx, VideoInfo& vinfo,
                    std::shared_ptr<Device> device);
  VideoFrameImplXRT(std::vector<uint8_t*>& data_vec, VideoInfo& vinfo,
                    std::shared_ptr<Device> device);
  VideoFrameImplXRT(uint8_t mbank_idx, std::vector<xrt::bo*>& bo_vec, VideoInfo& vinfo,
                    std::shared_ptr<Device> device);
  ~VideoFrameImplXRT() override;

  const VideoFrameMapInfo& map(DataMapFlags flags) override;
  void unmap() override;
  const VideoInfo& get_video_info() const override;
  std::shared_ptr<Device> get_device_handle() const override;
  int export_buffer() const override;

 private:
  std::unique_ptr<FrameBuffers> buffers_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_VIDEOFRAME_IMPL_XRT_HPP
