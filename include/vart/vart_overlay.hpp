// VART-X overlays: draw shapes and text over a frame.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro of its own and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_OVERLAY_HPP
#define VART_VART_OVERLAY_HPP

#include <memory>

#include "vart/vart_device.hpp"
#include "vart/vart_overlay_types.hpp"
#include "vart/vart_videoframe.hpp"

namespace vart {
class OverlayImplBase;  // the library's own, and not among what it exports
}

#pragma GCC visibility push(default)

namespace vart {

// To be used from one thread at a time. Failure is reported by exceptions derived from
// std::exception.
class Overlay {
 public:
  Overlay() = delete;
  // Throws std::invalid_argument for a number that is no type.
  Overlay(OverlayImplType type, std::shared_ptr<Device> device);

  // Draws into the pixels of a frame of format BGR, RGB, BGRx, RGBx or Y_UV8_420 (NV12): rectangles
  // first, texts last. What lies outside the frame is clipped. Maps the frame, and unmaps it when
  // it returns or throws. Throws std::invalid_argument for another format, a font that is not
  // within 0 to 7, and a font size that is not a positive number; what was drawn before stays.
  void draw_overlay(VideoFrame& frame, OverlayShapeInfo& shapes);

 private:
  std::shared_ptr<OverlayImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_OVERLAY_HPP
