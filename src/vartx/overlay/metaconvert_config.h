// MetaConvertConfig: the validated values of the configuration of MetaConvert, which determines how
// results are drawn.
#pragma once

#include <cstdint>
#include <map>

#include "vart/vart_overlay_types.hpp"
#include "vartx/json_config.h"

namespace millrace::vartx {

struct MetaConvertConfig {
  int64_t display_level = -1;  // the level of the result tree to draw, 0 for its root; < 0: all
  int32_t font = 0;
  float font_size = 0.5F;
  uint32_t thickness = 1;  // of lines, in pixels
  int32_t y_offset = 0;    // pixels, added to the position of every text
  bool text_above = true;  // draw the text above a box instead of inside it
  bool shows_label = true;
  bool shows_confidence = true;
  std::map<int64_t, ::vart::OverlayColorData> colors;  // by level

  ::vart::OverlayColorData color_of(int64_t level) const;
};

// Reads the configuration. Throws std::invalid_argument, which names key and value, for a value
// that has a wrong type or is out of range.
MetaConvertConfig read_metaconvert_config(const JsonConfig& json);

}  // namespace millrace::vartx
