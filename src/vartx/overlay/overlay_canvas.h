// OverlayCanvas: draws shapes into the planes of a mapped frame, with OpenCV.
//
// Coordinates are pixels of the frame and may have any value: shapes are clipped to the frame. For
// NV12 (Y_UV8_420), each shape is drawn into both planes, into the chroma plane at half the size,
// so that the edges of colours are at even pixels; colours are converted by BT.601, limited range.
// Not thread-safe.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vart/vart_overlay_types.hpp"
#include "vart/vart_videoframe_types.hpp"

namespace millrace::vartx {

struct TextStyle {
  int font = 0;     // 0 to 7, OpenCV's Hershey fonts
  double size = 1;  // scale factor of the font's base size
};

class OverlayCanvas {
 public:
  // Borrows the planes of the frame, which must stay mapped while the canvas is used. Throws
  // std::invalid_argument for a format other than BGR, RGB, BGRx, RGBx and Y_UV8_420.
  explicit OverlayCanvas(const ::vart::VideoFrameMapInfo& frame);

  // Thickness, here and below, is in pixels and is clamped to 1 to 100.
  void outline(const cv::Rect2d& box, uint32_t thickness, const ::vart::OverlayColorData& color);
  // Fills a box, blended with the picture by the colour's alpha: 0 is transparent, 255 opaque.
  void fill(const cv::Rect2d& box, const ::vart::OverlayColorData& color);
  void line(cv::Point2d start, cv::Point2d end, uint32_t thickness,
            const ::vart::OverlayColorData& color);
  void circle(cv::Point2d center, uint32_t radius, uint32_t thickness,
              const ::vart::OverlayColorData& color);
  // Draws a text whose lower left corner is `origin`; with `upside_down` (OpenCV's
  // bottomLeftOrigin) the text is mirrored vertically, and `origin` is its upper left corner.
  void text(const std::string& text, cv::Point2d origin, const TextStyle& style, bool upside_down,
            const ::vart::OverlayColorData& color);

  // Returns the rectangle that text() covers with the same arguments.
  static cv::Rect2d text_box(const std::string& text, cv::Point2d origin, const TextStyle& style,
                             bool upside_down);

 private:
  enum class Channels : uint8_t { kBgr, kRgb, kLuma, kChroma };
  // A plane, with the conversion of coordinates and colours of the frame to those of the plane.
  struct Surface {
    cv::Mat pixels;
    Channels channels = Channels::kBgr;
    double factor = 1;
    cv::Scalar color_of(const ::vart::OverlayColorData& color) const;
    int thickness_of(uint32_t thickness) const;
    cv::Point2d scaled(cv::Point2d point) const { return point * factor; }
  };
  static Surface surface(const ::vart::VideoFrameMapInfo& frame, int plane, int type,
                         Channels channels, double factor);

  std::vector<Surface> surfaces_;
};

}  // namespace millrace::vartx
