// MetaConvertConfig: the validated values of the configuration of MetaConvert, which determines
// what is drawn of results, and how. docs/vart-x.md lists the keys.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "vart/vart_overlay_types.hpp"
#include "vartx/json_config.h"

namespace millrace::vartx {

struct MetaConvertConfig {
  struct ClassStyle {
    std::string name;
    ::vart::OverlayColorData color;
    bool masked = false;
  };

  // Levels of the result tree count from 1, the results of a frame.
  int64_t display_level = -1;  // the level to draw, 0 for none; < 0: all
  int64_t mask_level = 0;      // the level whose boxes are covered; 0: none
  int32_t font = 0;
  float font_size = 0.5F;
  uint32_t thickness = 1;    // of lines, in pixels
  bool fills_boxes = false;  // fill boxes instead of drawing their outline
  int32_t y_offset = 0;      // pixels, added to the position of every text
  bool text_above = true;    // draw the text above a box instead of inside it
  bool shows_label = true;
  bool shows_confidence = false;
  bool shows_tracker = false;
  std::set<std::string> labels;                        // draw only these; empty: all
  std::vector<ClassStyle> classes;                     // draw only these; empty: all
  std::map<int64_t, ::vart::OverlayColorData> colors;  // by level; that of level 0 is for all

  bool shows_level(int64_t level) const { return display_level < 0 || level == display_level; }
  // Returns true if a box or class of that label is to be drawn.
  bool shows(const std::string& label) const;
  // Returns the colour: that of the class, else that of the level, else that of all levels, else
  // the default of the level.
  ::vart::OverlayColorData color_of(const std::string& label, int64_t level) const;
  // Returns true if the box is to be covered. If a class is masked, the mask level does not count.
  bool masks(const std::string& label, int64_t level) const;

 private:
  const ClassStyle* find(const std::string& label) const;
};

// Reads the configuration; keys that are not known are logged. Throws std::invalid_argument, which
// names key and value, for a value that has a wrong type or is out of range.
MetaConvertConfig read_metaconvert_config(const JsonConfig& json);

}  // namespace millrace::vartx
