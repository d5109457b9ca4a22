#include "vartx/overlay/metaconvert_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/float_environment.h"

namespace millrace::vartx {
namespace {

constexpr ::vart::OverlayColorData kGreen{0, 255, 0, 255};

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

uint8_t read_channel(const JsonConfig& json, const std::string& key) {
  return static_cast<uint8_t>(integer_within(json, key, 0, 0, 255));
}

// Selects the parts of a caption: without a filter, both. Only these two words are documented.
void read_label_filter(const JsonConfig& json, MetaConvertConfig& config) {
  const std::vector<std::string> words = json.texts("label-filter");
  if (words.empty()) return;
  const auto has = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  config.shows_label = has("class");
  config.shows_confidence = has("probability");
}

}  // namespace

::vart::OverlayColorData MetaConvertConfig::color_of(int64_t level) const {
  const auto found = colors.find(level);
  return found == colors.end() ? kGreen : found->second;
}

MetaConvertConfig read_metaconvert_config(const JsonConfig& json) {
  constexpr int64_t kFarthest = 1 << 15;  // pixels
  constexpr int64_t kThickest = 100;
  const DefaultFloatEnvironment floats;
  MetaConvertConfig config;
  config.display_level = json.integer("display-level", config.display_level);
  config.font = static_cast<int32_t>(integer_within(json, "font", config.font, 0, 7));
  config.font_size = read_font_size(json, config.font_size);
  config.thickness =
      static_cast<uint32_t>(integer_within(json, "thickness", config.thickness, 1, kThickest));
  config.y_offset = static_cast<int32_t>(
      integer_within(json, "y-offset", config.y_offset, -kFarthest, kFarthest));
  config.text_above = json.boolean("draw-above-bbox-flag", config.text_above);
  read_label_filter(json, config);
  for (const JsonConfig& color : json.objects("label-color"))
    config.colors[color.integer("level", 0)] = {
        read_channel(color, "red"), read_channel(color, "green"), read_channel(color, "blue"), 255};
  return config;
}

}  // namespace millrace::vartx
