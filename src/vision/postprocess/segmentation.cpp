#include "vision/postprocess/segmentation.h"

#include <cmath>

namespace millrace::vision {

std::vector<uint16_t> class_map(std::span<const float> scores, const CellLayout& layout) {
  std::vector<uint16_t> map(layout.cells);
  for (uint32_t cell = 0; cell < layout.cells; ++cell) {
    float best = scores[layout.at(cell, 0)];
    for (uint32_t channel = 1; channel < layout.channels; ++channel) {
      const float score = scores[layout.at(cell, channel)];
      if (!(score > best || (std::isnan(best) && !std::isnan(score)))) continue;
      best = score;
      map[cell] = static_cast<uint16_t>(channel);
    }
  }
  return map;
}

std::vector<uint16_t> binary_map(std::span<const float> scores, const CellLayout& layout) {
  std::vector<uint16_t> map(layout.cells);
  for (uint32_t cell = 0; cell < layout.cells; ++cell)
    // The sigmoid of 0 is 0.5.
    map[cell] = scores[cell] >= 0 ? 1 : 0;
  return map;
}

}  // namespace millrace::vision
