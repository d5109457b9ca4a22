// Every shape is reduced to OpenCV primitives and drawn once per plane. Coordinates are clamped and
// lines are clipped before, so that values from a program cannot overflow OpenCV's integers.
#include "vartx/overlay/overlay_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

namespace millrace::vartx {
namespace {

using ::vart::OverlayColorData;
using ::vart::VideoFormat;

constexpr double kThickest = 100;
constexpr double kLargestRadius = 1 << 15;
// Coordinates are clamped to this magnitude, which exceeds every frame, so that OpenCV's integer
// arithmetic cannot overflow.
constexpr double kFarthest = 1 << 24;
constexpr size_t kLongestText = 256;

cv::Point rounded(cv::Point2d point) {
  return {static_cast<int>(std::lround(std::clamp(point.x, -kFarthest, kFarthest))),
          static_cast<int>(std::lround(std::clamp(point.y, -kFarthest, kFarthest)))};
}

std::string shortened(const std::string& text) {
  return text.substr(0, kLongestText);
}

// Clips a line to the plane and a margin around it, in which a thick line is still visible.
bool clip(const cv::Mat& pixels, int thickness, cv::Point& start, cv::Point& end) {
  const cv::Rect visible(-thickness, -thickness, pixels.cols + 2 * thickness,
                         pixels.rows + 2 * thickness);
  return cv::clipLine(visible, start, end);
}

}  // namespace

OverlayCanvas::OverlayCanvas(const ::vart::VideoFrameMapInfo& frame) {
  switch (frame.fmt) {
    case VideoFormat::BGR:
      surfaces_ = {surface(frame, 0, CV_8UC3, Channels::kBgr, 1)};
      return;
    case VideoFormat::RGB:
      surfaces_ = {surface(frame, 0, CV_8UC3, Channels::kRgb, 1)};
      return;
    case VideoFormat::BGRx:
      surfaces_ = {surface(frame, 0, CV_8UC4, Channels::kBgr, 1)};
      return;
    case VideoFormat::RGBx:
      surfaces_ = {surface(frame, 0, CV_8UC4, Channels::kRgb, 1)};
      return;
    case VideoFormat::Y_UV8_420:
      surfaces_ = {surface(frame, 0, CV_8UC1, Channels::kLuma, 1),
                   surface(frame, 1, CV_8UC2, Channels::kChroma, 0.5)};
      return;
    default:
      throw std::invalid_argument(fmt::format(
          "draw_overlay: frames of format {} cannot be drawn into, only BGR, RGB, BGRx, RGBx and "
          "Y_UV8_420",
          static_cast<int>(frame.fmt)));
  }
}

OverlayCanvas::Surface OverlayCanvas::surface(const ::vart::VideoFrameMapInfo& frame, int plane,
                                              int type, Channels channels, double factor) {
  const ::vart::VideoPlaneInfo& info = frame.planes[plane];
  const int rows = static_cast<int>(frame.height * factor);
  const int columns = static_cast<int>(frame.width * factor);
  return {cv::Mat(rows, columns, type, info.data, static_cast<size_t>(info.stride)), channels,
          factor};
}

cv::Scalar OverlayCanvas::Surface::color_of(const OverlayColorData& color) const {
  const double red = color.red, green = color.green, blue = color.blue;
  switch (channels) {
    case Channels::kBgr:
      return {blue, green, red, 0};
    case Channels::kRgb:
      return {red, green, blue, 0};
    case Channels::kLuma:
      return {std::round(16 + (65.481 * red + 128.553 * green + 24.966 * blue) / 255)};
    case Channels::kChroma:
      break;
  }
  return {std::round(128 + (-37.797 * red - 74.203 * green + 112.0 * blue) / 255),
          std::round(128 + (112.0 * red - 93.786 * green - 18.214 * blue) / 255)};
}

int OverlayCanvas::Surface::thickness_of(uint32_t thickness) const {
  return static_cast<int>(std::ceil(std::clamp<double>(thickness, 1, kThickest) * factor));
}

void OverlayCanvas::outline(const cv::Rect2d& box, uint32_t thickness,
                            const OverlayColorData& color) {
  // The last row and column of pixels belong to the box.
  const cv::Point2d first = box.tl();
  const cv::Point2d last(std::max(first.x, box.br().x - 1), std::max(first.y, box.br().y - 1));
  line(first, {last.x, first.y}, thickness, color);
  line({last.x, first.y}, last, thickness, color);
  line(last, {first.x, last.y}, thickness, color);
  line({first.x, last.y}, first, thickness, color);
}

void OverlayCanvas::fill(const cv::Rect2d& box, const OverlayColorData& color) {
  const double alpha = color.alpha / 255.0;
  for (Surface& surface : surfaces_) {
    const cv::Rect wanted(rounded(surface.scaled(box.tl())), rounded(surface.scaled(box.br())));
    const cv::Rect visible = wanted & cv::Rect({}, surface.pixels.size());
    if (visible.empty()) continue;
    cv::Mat covered = surface.pixels(visible);
    const cv::Mat flat(visible.size(), covered.type(), surface.color_of(color));
    cv::addWeighted(flat, alpha, covered, 1 - alpha, 0, covered);
  }
}

void OverlayCanvas::line(cv::Point2d start, cv::Point2d end, uint32_t thickness,
                         const OverlayColorData& color) {
  for (Surface& surface : surfaces_) {
    const int own_thickness = surface.thickness_of(thickness);
    cv::Point from = rounded(surface.scaled(start)), to = rounded(surface.scaled(end));
    if (clip(surface.pixels, own_thickness, from, to))
      cv::line(surface.pixels, from, to, surface.color_of(color), own_thickness);
  }
}

void OverlayCanvas::circle(cv::Point2d center, uint32_t radius, uint32_t thickness,
                           const OverlayColorData& color) {
  for (Surface& surface : surfaces_) {
    const cv::Point at = rounded(surface.scaled(center));
    const int own_radius =
        static_cast<int>(std::lround(std::min<double>(radius, kLargestRadius) * surface.factor));
    const int own_thickness = surface.thickness_of(thickness);
    const int reach = own_radius + own_thickness;
    const cv::Rect around(at.x - reach, at.y - reach, 2 * reach + 1, 2 * reach + 1);
    if ((around & cv::Rect({}, surface.pixels.size())).empty()) continue;
    cv::circle(surface.pixels, at, own_radius, surface.color_of(color), own_thickness);
  }
}

void OverlayCanvas::text(const std::string& text, cv::Point2d origin, const TextStyle& style,
                         bool upside_down, const OverlayColorData& color) {
  const cv::Rect2d covered = text_box(text, origin, style, upside_down);
  for (Surface& surface : surfaces_) {
    const cv::Rect2d frame(0, 0, surface.pixels.cols / surface.factor,
                           surface.pixels.rows / surface.factor);
    if ((covered & frame).empty()) continue;
    cv::putText(surface.pixels, shortened(text), rounded(surface.scaled(origin)), style.font,
                style.size * surface.factor, surface.color_of(color), 1, cv::LINE_8, upside_down);
  }
}

cv::Rect2d OverlayCanvas::text_box(const std::string& text, cv::Point2d origin,
                                   const TextStyle& style, bool upside_down) {
  int below = 0;
  const cv::Size size = cv::getTextSize(shortened(text), style.font, style.size, 1, &below);
  const double top = upside_down ? origin.y - below : origin.y - size.height;
  return {origin.x, top, static_cast<double>(size.width), static_cast<double>(size.height + below)};
}

}  // namespace millrace::vartx
