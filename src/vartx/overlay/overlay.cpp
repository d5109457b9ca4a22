#include "vart/vart_overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "vartx/buffers/mapped_frame.h"
#include "vartx/overlay/overlay_canvas.h"

namespace vart {

using millrace::vartx::MappedFrame;
using millrace::vartx::OverlayCanvas;
using millrace::vartx::TextStyle;

class OverlayImplBase {
 public:
  explicit OverlayImplBase(std::shared_ptr<Device> device) : device(std::move(device)) {}
  const std::shared_ptr<Device> device;
};

namespace {

constexpr auto kReadAndWrite = static_cast<DataMapFlags>(static_cast<int>(DataMapFlags::READ) |
                                                         static_cast<int>(DataMapFlags::WRITE));

cv::Point2d point_of(const OverlayCoordinates& point) {
  return {static_cast<double>(point.x), static_cast<double>(point.y)};
}

void draw(OverlayCanvas& canvas, const OverlayRectParams& rect) {
  const cv::Point2d corner = point_of(rect.points);
  const cv::Rect2d box(corner.x, corner.y, rect.width, rect.height);
  if (rect.apply_bg_color) canvas.fill(box, rect.bg_color);
  if (rect.thickness > 0) canvas.outline(box, rect.thickness, rect.rect_color);
}

TextStyle style_of(const OverlayFontData& font) {
  constexpr int32_t kFonts = 8;
  constexpr float kLargest = 100;
  if (font.font_num < 0 || font.font_num >= kFonts)
    throw std::invalid_argument(
        fmt::format("draw_overlay: font {} is not within 0 to {}", font.font_num, kFonts - 1));
  if (!std::isfinite(font.font_size) || font.font_size <= 0)
    throw std::invalid_argument(
        fmt::format("draw_overlay: a font size of {} is not a positive number", font.font_size));
  return {font.font_num, std::min(font.font_size, kLargest)};
}

void draw(OverlayCanvas& canvas, const OverlayTextParams& text) {
  if (text.disp_text == nullptr) return;
  const std::string shown = text.disp_text;
  const TextStyle style = style_of(text.text_font);
  const cv::Point2d origin = point_of(text.points);
  if (text.apply_bg_color)
    canvas.fill(OverlayCanvas::text_box(shown, origin, style, text.bottom_left_origin),
                text.bg_color);
  canvas.text(shown, origin, style, text.bottom_left_origin, text.text_font.font_color);
}

void draw(OverlayCanvas& canvas, const OverlayLineParams& line) {
  canvas.line(point_of(line.start), point_of(line.end), line.thickness, line.line_color);
}

void draw(OverlayCanvas& canvas, const OverlayArrowParams& arrow) {
  const cv::Point2d start = point_of(arrow.start), tip = point_of(arrow.end);
  const cv::Point2d back = (start - tip) * (std::isfinite(arrow.tip_length) ? arrow.tip_length : 0);
  // The two strokes of the tip: the direction back, rotated by 45 degrees to either side.
  constexpr double kTurn = 0.70710678118654752;
  const cv::Point2d left(kTurn * (back.x - back.y), kTurn * (back.x + back.y));
  const cv::Point2d right(kTurn * (back.x + back.y), kTurn * (back.y - back.x));
  canvas.line(start, tip, arrow.thickness, arrow.line_color);
  canvas.line(tip, tip + left, arrow.thickness, arrow.line_color);
  canvas.line(tip, tip + right, arrow.thickness, arrow.line_color);
}

void draw(OverlayCanvas& canvas, const OverlayCircleParams& circle) {
  canvas.circle(point_of(circle.center), circle.radius, circle.thickness, circle.circle_color);
}

void draw(OverlayCanvas& canvas, const OverlayPolygonParams& polygon) {
  for (size_t i = 0; i < polygon.points.size(); ++i)
    canvas.line(point_of(polygon.points[i]),
                point_of(polygon.points[(i + 1) % polygon.points.size()]), polygon.thickness,
                polygon.poly_color);
}

template <class Shape>
void draw_all(OverlayCanvas& canvas, const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) draw(canvas, shape);
}

}  // namespace

Overlay::Overlay(OverlayImplType type, std::shared_ptr<Device> device)
    : impl_(std::make_shared<OverlayImplBase>(std::move(device))) {
  if (type != OverlayImplType::OPENCV)
    throw std::invalid_argument(
        fmt::format("Overlay: {} is not a known type of overlay", static_cast<int>(type)));
}

void Overlay::draw_overlay(VideoFrame& frame, OverlayShapeInfo& shapes) {
  const millrace::DefaultFloatEnvironment floats;
  const MappedFrame drawable(frame, kReadAndWrite);
  OverlayCanvas canvas(drawable.info());
  draw_all(canvas, shapes.rect_params);
  draw_all(canvas, shapes.line_params);
  draw_all(canvas, shapes.arrow_params);
  draw_all(canvas, shapes.circle_params);
  draw_all(canvas, shapes.polygn_params);
  draw_all(canvas, shapes.text_params);
}

}  // namespace vart
