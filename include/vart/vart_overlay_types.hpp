// VART-X overlays: shapes and text to be drawn over a frame.
//
// Units: pixels, from the upper left corner.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Programs pass these on and do not look inside; the members of lines, arrows, circles and
// polygons are not published. Defines no macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_OVERLAY_TYPES_HPP
#define VART_VART_OVERLAY_TYPES_HPP

#include <cstdint>
#include <vector>

namespace vart {

enum class OverlayImplType { OPENCV };

struct OverlayCoordinates {
  int32_t x;
  int32_t y;
};

// `alpha` counts for backgrounds only: 0 leaves the picture as it is, 255 covers it.
struct OverlayColorData {
  uint8_t red;
  uint8_t green;
  uint8_t blue;
  uint8_t alpha;
};

struct OverlayFontData {
  int32_t font_num;  // 0 to 7
  float font_size;   // a factor
  OverlayColorData font_color;
};

// Thickness, in all shapes: pixels; 0 counts as 1, except that a rectangle then has no outline, and
// more than 100 as 100.
struct OverlayRectParams {
  OverlayCoordinates points;  // the upper left corner
  uint32_t width;
  uint32_t height;
  uint32_t thickness;
  bool apply_bg_color;
  OverlayColorData rect_color;
  OverlayColorData bg_color;
};

struct OverlayTextParams {
  OverlayCoordinates points;  // the lower left corner
  char* disp_text;            // belongs to the maker of the OverlayShapeInfo; null: no text
  bool bottom_left_origin;    // for pictures upside down: turns the text, too
  bool apply_bg_color;
  OverlayFontData text_font;
  OverlayColorData bg_color;
};

struct OverlayLineParams {
  OverlayCoordinates start;
  OverlayCoordinates end;
  uint32_t thickness;
  OverlayColorData line_color;
};

struct OverlayArrowParams {
  OverlayCoordinates start;
  OverlayCoordinates end;  // where the tip is
  uint32_t thickness;
  float tip_length;  // of the arrow's length
  OverlayColorData line_color;
};

struct OverlayCircleParams {
  OverlayCoordinates center;
  uint32_t radius;
  uint32_t thickness;
  OverlayColorData circle_color;
};

struct OverlayPolygonParams {
  std::vector<OverlayCoordinates> points;
  uint32_t thickness;
  OverlayColorData poly_color;
};

struct OverlayShapeInfo {
  std::vector<OverlayRectParams> rect_params;
  std::vector<OverlayTextParams> text_params;
  std::vector<OverlayLineParams> line_params;
  std::vector<OverlayArrowParams> arrow_params;
  std::vector<OverlayCircleParams> circle_params;
  std::vector<OverlayPolygonParams> polygn_params;
};

}  // namespace vart

#endif  // VART_VART_OVERLAY_TYPES_HPP
