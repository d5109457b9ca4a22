// MetaConvertConfig: the keys of a metaconvert-config, read and checked.
#pragma once

#include <cstdint>
#include <map>

#include "vart/vart_overlay_types.hpp"
#include "vartx/json_config.h"

namespace millrace::vartx {

struct MetaConvertConfig {
  int64_t display_level = -1;  // of the tree, 0 for its root; negative: all
  int32_t font = 0;
  float font_size = 0.5F;
  uint32_t thickness = 1;  // pixels
  int32_t y_offset = 0;    // pixels, added to every text
  bool text_above = true;  // of a box
  bool shows_label = true;
  bool shows_confidence = true;
  std::map<int64_t, ::vart::OverlayColorData> colors;  // by level

  ::vart::OverlayColorData color_of(int64_t level) const;
};

// Throws std::invalid_argument, naming key and value, for what has a wrong type or is out of range.
MetaConvertConfig read_metaconvert_config(const JsonConfig& json);

}  // namespace millrace::vartx
