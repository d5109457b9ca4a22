// Captions for classes and boxes, and rectangle covers of class maps.
#include "vartx/overlay/overlay_shapes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "vartx/results/frame_geometry.h"

namespace millrace::vartx {
namespace {

using ::vart::OverlayColorData;
using ::vart::OverlayCoordinates;

constexpr double kMargin = 4;        // pixels between a text and its box or the frame's edge
constexpr double kFontLine = 30;     // line spacing of a font of size 1, in pixels
constexpr uint8_t kMaskAlpha = 128;  // half of 255, which is opaque

OverlayCoordinates whole(double x, double y) {
  return {rounded_coordinate(x), rounded_coordinate(y)};
}

constexpr OverlayColorData kBlack{0, 0, 0, 255};

// Returns what a program or a user calls the class: its label or, without labels, its number.
std::string name_of(const std::string& label, int64_t class_id) {
  return label.empty() ? std::to_string(class_id) : label;
}

// Returns the colour of a class in masks. Without a configured one, classes with consecutive
// numbers get distinct colours.
OverlayColorData mask_color(const MetaConvertConfig& config, uint16_t class_id) {
  if (class_id < config.classes.size()) {
    OverlayColorData color = config.classes[class_id].color;
    color.alpha = kMaskAlpha;
    return color;
  }
  constexpr std::array<OverlayColorData, 6> kColors = {{{230, 25, 75, kMaskAlpha},
                                                        {60, 180, 75, kMaskAlpha},
                                                        {0, 130, 200, kMaskAlpha},
                                                        {255, 225, 25, kMaskAlpha},
                                                        {145, 30, 180, kMaskAlpha},
                                                        {70, 240, 240, kMaskAlpha}}};
  return kColors[class_id % kColors.size()];
}

// A run of pixels of one class in a row of a map: pixels `first` to `last` - 1.
struct Run {
  uint32_t first = 0;
  uint32_t last = 0;
  uint16_t class_id = 0;
  bool operator<(const Run& other) const {
    return std::tie(first, last, class_id) < std::tie(other.first, other.last, other.class_id);
  }
};

std::vector<Run> runs_of(const uint16_t* row, uint32_t width) {
  std::vector<Run> runs;
  for (uint32_t x = 0; x < width;) {
    const uint32_t first = x;
    while (x < width && row[x] == row[first]) ++x;
    if (row[first] != 0) runs.push_back({first, x, row[first]});
  }
  return runs;
}

// The transformation from the pixels of a class map to rectangles on the frame: first to the
// model's input, whose size may differ from that of the map, then to the frame.
class MapPlacement {
 public:
  MapPlacement(const MetaConvertConfig& config, const ::vart::InferResScaleInfo& scale,
               uint32_t width, uint32_t height)
      : config_(config),
        geometry_(scale),
        x_(scale.model_input_width > 0 ? 1.0 * scale.model_input_width / width : 1),
        y_(scale.model_input_height > 0 ? 1.0 * scale.model_input_height / height : 1) {}

  ::vart::OverlayRectParams rectangle(const Run& run, uint32_t first_row, uint32_t end_row) const {
    const double left = std::round(geometry_.frame_x(run.first * x_));
    const double top = std::round(geometry_.frame_y(first_row * y_));
    ::vart::OverlayRectParams rect{};
    rect.points = whole(left, top);
    rect.width = rounded_size(geometry_.frame_x(run.last * x_) - left);
    rect.height = rounded_size(geometry_.frame_y(end_row * y_) - top);
    rect.apply_bg_color = true;
    rect.bg_color = mask_color(config_, run.class_id);
    return rect;
  }

 private:
  const MetaConvertConfig& config_;
  FrameGeometry geometry_;
  double x_;
  double y_;
};

// Covers a class map by rectangles: run-length encodes each row, and merges equal runs in
// consecutive rows into one rectangle.
void add_map(const std::vector<uint16_t>& map, uint32_t width, uint32_t height,
             const MapPlacement& placement, std::vector<::vart::OverlayRectParams>& rects) {
  std::map<Run, uint32_t> open;  // the runs of the previous row, with the first row of each
  for (uint32_t y = 0; y <= height; ++y) {
    std::map<Run, uint32_t> next;
    if (y < height)
      for (const Run& run : runs_of(&map[size_t{y} * width], width)) {
        const auto before = open.extract(run);
        next[run] = before.empty() ? y : before.mapped();
      }
    for (const auto& [run, first_row] : open)
      rects.push_back(placement.rectangle(run, first_row, y));
    open = std::move(next);
  }
}

}  // namespace

void OverlayShapes::add(const ::vart::ClassificationResData& classes, int64_t level) {
  for (size_t i = 0; i < classes.index.size(); ++i) {
    const std::string label =
        name_of(i < classes.label.size() ? classes.label[i] : std::string(), classes.index[i]);
    if (!config_.shows(label)) continue;
    const double confidence = i < classes.confidence.size() ? classes.confidence[i] : 0;
    add_text(caption(label, confidence, {}), kMargin, ++lines_ * line_height(),
             config_.color_of(label, level));
  }
}

void OverlayShapes::add(const ::vart::DetectionResData& box, int64_t level) {
  const std::string label = name_of(box.label, box.class_id);
  if (!config_.shows(label)) return;
  const OverlayColorData color = config_.color_of(label, level);
  const bool masked = config_.masks(label, level);
  ::vart::OverlayRectParams rect{};
  rect.points = {box.x, box.y};
  rect.width = box.width;
  rect.height = box.height;
  rect.thickness = config_.thickness;
  rect.rect_color = color;
  rect.apply_bg_color = config_.fills_boxes || masked;
  rect.bg_color = masked ? kBlack : color;
  info_.rect_params.push_back(rect);
  const double y = config_.text_above ? box.y - kMargin : box.y + line_height();
  add_text(caption(label, box.confidence, box.obj_track_label), box.x, y, color);
}

void OverlayShapes::add(const ::vart::SegmentationResData& maps,
                        const ::vart::InferResScaleInfo& scale, int64_t level) {
  if (config_.mask_level > 0 && level != config_.mask_level) return;
  for (size_t i = 0; i < maps.class_map.size(); ++i) {
    // Programs may modify results, so maps with inconsistent sizes are skipped.
    if (i >= maps.width.size() || i >= maps.height.size()) return;
    const uint64_t pixels = uint64_t{maps.width[i]} * maps.height[i];
    if (pixels == 0 || maps.class_map[i].size() != pixels) continue;
    add_map(maps.class_map[i], maps.width[i], maps.height[i],
            MapPlacement(config_, scale, maps.width[i], maps.height[i]), info_.rect_params);
  }
}

std::string OverlayShapes::caption(const std::string& label, double confidence,
                                   const std::string& tracker) const {
  std::string text;
  const auto append = [&](const std::string& part) {
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
  };
  if (config_.shows_label) append(label);
  if (config_.shows_confidence) append(fmt::format("{:.2f}", confidence));
  if (config_.shows_tracker) append(tracker);
  return text;
}

void OverlayShapes::add_text(std::string text, double x, double y, OverlayColorData color) {
  if (text.empty()) return;
  texts_.push_back(std::move(text));
  ::vart::OverlayTextParams params{};
  params.points = whole(x, y + config_.y_offset);
  params.disp_text = texts_.back().data();
  params.text_font = {config_.font, config_.font_size, color};
  info_.text_params.push_back(params);
}

double OverlayShapes::line_height() const {
  return kFontLine * config_.font_size;
}

}  // namespace millrace::vartx
