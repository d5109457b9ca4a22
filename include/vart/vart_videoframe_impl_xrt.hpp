// Included by older VART-X programs, which take from it no more than the names of XRT's classes.
// There is one implementation of vart::VideoFrame; vart_videoframe.hpp declares all of it.
#ifndef VART_VART_VIDEOFRAME_IMPL_XRT_HPP
#define VART_VART_VIDEOFRAME_IMPL_XRT_HPP

#include "vart/vart_videoframe.hpp"

namespace xrt {
class bo;
class device;
}  // namespace xrt

#endif  // VART_VART_VIDEOFRAME_IMPL_XRT_HPP
