// OverlayCanvas: draws shapes into the planes of a mapped frame.
//
// Coordinates are pixels of the frame, any numbers: what lies outside the frame is clipped. Of
// NV12, both planes are drawn into, that of the colours at half the size, so edges of colours lie
// on even pixels. Colours of NV12 follow BT.601 with limited range. To be used from one thread at a
// time.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "vart/vart_overlay_types.hpp"
#include "vart/vart_videoframe_types.hpp"

namespace millrace::vartx {

struct TextStyle {
  int font = 0;     // 0 to 7, OpenCV's Hershey fonts
  double size = 1;  // a factor of the font's own size
};

class OverlayCanvas {
 public:
  // The planes stay the frame's and must outlive the canvas. Throws std::invalid_argument for a
  // format other than BGR, RGB, BGRx, RGBx and Y_UV8_420.
  explicit OverlayCanvas(const ::vart::VideoFrameMapInfo& frame);

  // Thickness, here and below: pixels, 1 to 100; what is beyond is taken as the nearest.
  void outline(const cv::Rect2d& box, uint32_t thickness, const ::vart::OverlayColorData& color);
  // Mixed with the picture by the colour's alpha: 0 changes nothing, 255 covers.
  void fill(const cv::Rect2d& box, const ::vart::OverlayColorData& color);
  void line(cv::Point2d start, cv::Point2d end, uint32_t thickness,
            const ::vart::OverlayColorData& color);
  void circle(cv::Point2d center, uint32_t radius, uint32_t thickness,
              const ::vart::OverlayColorData& color);
  // `origin` is the lower left corner of the text, or, turned upside down, the upper left one.
  void text(const std::string& text, cv::Point2d origin, const TextStyle& style, bool upside_down,
            const ::vart::OverlayColorData& color);

  // The rectangle that the text covers, for the same arguments.
  static cv::Rect2d text_box(const std::string& text, cv::Point2d origin, const TextStyle& style,
                             bool upside_down);

 private:
  enum class Channels : uint8_t { kBgr, kRgb, kLuma, kChroma };
  // A plane, and how coordinates and colours become its own.
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
