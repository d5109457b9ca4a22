#include "vartx/overlay/metaconvert_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "base/float_environment.h"
#include "base/log.h"

namespace millrace::vartx {
namespace {

using ::vart::OverlayColorData;

constexpr OverlayColorData kAqua{0, 255, 255, 255};
// The colours of levels 1 to 3; all others are aqua.
constexpr std::array<OverlayColorData, 3> kDefaultColors = {
    {{0, 0, 255, 255}, {0, 255, 0, 255}, {255, 0, 0, 255}}};

// "radius" has no effect, since no result has points. The vendor's documentation spells the flag in
// both ways.
constexpr std::array<std::string_view, 12> kKnownKeys = {
    "classes",   "display-level", "draw-above-bbox-flag", "draw_above_bbox_flag", "font",
    "font-size", "label-color",   "label-filter",         "mask-level",           "radius",
    "thickness", "y-offset"};

int64_t integer_within(const JsonConfig& json, const std::string& key, int64_t fallback,
                       int64_t least, int64_t most) {
  const int64_t value = json.integer(key, fallback);
  if (value < least || value > most)
    throw std::invalid_argument(
        fmt::format("\"{}\": {} is not within {} to {}", key, value, least, most));
  return value;
}

float read_font_size(const JsonConfig& json, float fallback) {
  constexpr float kLargest = 100;
  const float size = json.number("font-size", fallback);
  if (size <= 0 || size > kLargest)
    throw std::invalid_argument(
        fmt::format("\"font-size\": {} is not greater than 0 and at most {}", size, kLargest));
  return size;
}

// Reads the thickness of lines; a negative one stands for filled boxes.
void read_thickness(const JsonConfig& json, MetaConvertConfig& config) {
  constexpr int64_t kThickest = 100;
  const int64_t value = json.integer("thickness", config.thickness);
  config.fills_boxes = value < 0;
  if (value == 0 || value > kThickest)
    throw std::invalid_argument(
        fmt::format("\"thickness\": {} is neither within 1 to {} nor negative, for filled boxes",
                    value, kThickest));
  config.thickness = config.fills_boxes ? 1 : static_cast<uint32_t>(value);
}

OverlayColorData read_color(const JsonConfig& json) {
  const auto channel = [&](const std::string& key) {
    return static_cast<uint8_t>(integer_within(json, key, 0, 0, 255));
  };
  return {channel("red"), channel("green"), channel("blue"), 255};
}

// Reads the parts of a caption and the labels to draw, which share one list: release 6.2 documents
// the words for the parts, later documentation an allowlist of labels.
void read_label_filter(const JsonConfig& json, MetaConvertConfig& config) {
  bool label = false, confidence = false, tracker = false;
  for (std::string& word : json.texts("label-filter")) {
    if (word == "class")
      label = true;
    else if (word == "probability")
      confidence = true;
    else if (word == "tracker-id")
      tracker = true;
    else
      config.labels.insert(std::move(word));
  }
  if (!label && !confidence && !tracker) return;
  config.shows_label = label;
  config.shows_confidence = confidence;
  config.shows_tracker = tracker;
}

void log_unknown_keys(const JsonConfig& json) {
  for (const std::string& key : json.keys())
    if (std::ranges::find(kKnownKeys, key) == kKnownKeys.end())
      log_format(LogLevel::kWarning, "vartx", "MetaConvert: the key \"{}\" is unknown", key);
}

}  // namespace

const MetaConvertConfig::ClassStyle* MetaConvertConfig::find(const std::string& label) const {
  const auto found = std::ranges::find(classes, label, &ClassStyle::name);
  return found == classes.end() ? nullptr : &*found;
}

bool MetaConvertConfig::shows(const std::string& label) const {
  return (labels.empty() || labels.contains(label)) && (classes.empty() || find(label) != nullptr);
}

OverlayColorData MetaConvertConfig::color_of(const std::string& label, int64_t level) const {
  if (const ClassStyle* style = find(label)) return style->color;
  for (const int64_t each : {level, int64_t{0}})
    if (const auto found = colors.find(each); found != colors.end()) return found->second;
  const bool has_default = level >= 1 && level <= static_cast<int64_t>(kDefaultColors.size());
  return has_default ? kDefaultColors[static_cast<size_t>(level - 1)] : kAqua;
}

bool MetaConvertConfig::masks(const std::string& label, int64_t level) const {
  if (std::ranges::any_of(classes, &ClassStyle::masked)) {
    const ClassStyle* style = find(label);
    return style != nullptr && style->masked;
  }
  return mask_level > 0 && level == mask_level;
}

MetaConvertConfig read_metaconvert_config(const JsonConfig& json) {
  constexpr int64_t kFarthest = 1 << 15;  // pixels
  const DefaultFloatEnvironment floats;
  MetaConvertConfig config;
  config.display_level = json.integer("display-level", config.display_level);
  config.mask_level = json.integer("mask-level", config.mask_level);
  config.font = static_cast<int32_t>(integer_within(json, "font", config.font, 0, 7));
  config.font_size = read_font_size(json, config.font_size);
  read_thickness(json, config);
  config.y_offset = static_cast<int32_t>(
      integer_within(json, "y-offset", config.y_offset, -kFarthest, kFarthest));
  config.text_above = json.boolean("draw_above_bbox_flag", config.text_above);
  config.text_above = json.boolean("draw-above-bbox-flag", config.text_above);
  read_label_filter(json, config);
  for (const JsonConfig& color : json.objects("label-color"))
    config.colors[color.integer("level", 1)] = read_color(color);
  for (const JsonConfig& each : json.objects("classes"))
    config.classes.push_back(
        {each.text("name", ""), read_color(each), each.boolean("masking", false)});
  log_unknown_keys(json);
  return config;
}

}  // namespace millrace::vartx
