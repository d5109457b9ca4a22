// Frames of VART-X: their sizes, and the descriptors by which tensors share their memory.
#pragma once

#include <cstddef>

#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_videoframe_types.hpp"

namespace samples {

// Size of a frame in bytes. Its strides and elevations are set, as get_input_vinfo and
// get_output_vinfo set them.
size_t bytes_of(const vart::VideoInfo& info);

// All of a frame.
vart::RegionOfInterest whole(const vart::VideoInfo& info);

// A descriptor of a buffer, closed at the end: what is made from it keeps one of its own. Not
// copyable. The constructor throws std::runtime_error for a negative number, which stands for a
// buffer that cannot be exported.
class SharedFd {
 public:
  explicit SharedFd(int fd);
  ~SharedFd();
  SharedFd(const SharedFd&) = delete;
  SharedFd& operator=(const SharedFd&) = delete;
  int& get() { return fd_; }

 private:
  int fd_;
};

}  // namespace samples
