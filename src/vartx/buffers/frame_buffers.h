// FrameBuffers: a picture in one buffer, or in one buffer per plane, without padding between rows
// (frame_layout.h). All planes are mapped together. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/buffer.h"
#include "vart/vart_videoframe.hpp"
#include "vartx/buffers/mapped_buffer.h"

namespace vart {

class FrameBuffers {
 public:
  // A frame of `type` in new memory of `size` bytes; in the program's memory at `pointers`, one per
  // plane; and in the memory of buffer objects, one per plane or one for all. Only format and size
  // of `given` are used. Throw std::invalid_argument for what VideoFrame refuses, and
  // std::runtime_error where there is no memory.
  static std::unique_ptr<FrameBuffers> allocate(VideoFrameImplType type, size_t size,
                                                const VideoInfo& given,
                                                std::shared_ptr<Device> device);
  static std::unique_ptr<FrameBuffers> wrap(VideoFrameImplType type,
                                            const std::vector<uint8_t*>& pointers,
                                            const VideoInfo& given, std::shared_ptr<Device> device);
  static std::unique_ptr<FrameBuffers> find(VideoFrameImplType type,
                                            const std::vector<xrt::bo*>& objects,
                                            const VideoInfo& given, std::shared_ptr<Device> device);

  const VideoFrameMapInfo& map(DataMapFlags flags);
  void unmap();
  const VideoInfo& info() const { return info_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  // Returns -1 for planes in separate buffers, which have no common descriptor.
  int export_fd() const;

 private:
  FrameBuffers(VideoFrameImplType type, const VideoInfo& given,
               std::vector<millrace::memory::Buffer> buffers, std::shared_ptr<Device> device);

  const VideoInfo info_;
  const std::shared_ptr<Device> device_;
  std::vector<millrace::vartx::MappedBuffer> buffers_;
  VideoFrameMapInfo mapped_{};  // filled in once, since addresses do not change
};

}  // namespace vart
