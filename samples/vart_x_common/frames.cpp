#include "vart_x_common/frames.hpp"

#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace samples {

size_t bytes_of(const vart::VideoInfo& info) {
  size_t bytes = 0;
  for (uint32_t plane = 0; plane < info.n_planes; ++plane)
    bytes += info.stride[plane] * info.elevation[plane];
  return bytes;
}

vart::RegionOfInterest whole(const vart::VideoInfo& info) {
  vart::RegionOfInterest roi{};
  roi.width = static_cast<uint16_t>(info.width);
  roi.height = static_cast<uint16_t>(info.height);
  return roi;
}

SharedFd::SharedFd(int fd) : fd_(fd) {
  if (fd_ < 0) throw std::runtime_error("a buffer cannot be exported");
}

SharedFd::~SharedFd() {
  ::close(fd_);
}

}  // namespace samples
