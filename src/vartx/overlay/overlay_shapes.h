// OverlayShapes: the overlay shapes (rectangles and texts) that visualise inference results,
// collected one result after another.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_overlay_types.hpp"
#include "vartx/overlay/metaconvert_config.h"

namespace millrace::vartx {

// Not thread-safe. Not copyable, since text shapes point to strings in the object.
class OverlayShapes {
 public:
  // The configuration is borrowed and must outlive every call of add().
  explicit OverlayShapes(const MetaConvertConfig& config) : config_(config) {}
  OverlayShapes(const OverlayShapes&) = delete;
  OverlayShapes& operator=(const OverlayShapes&) = delete;

  // `level` is the level of the result's node in the tree, 1 for the results of a frame. Results
  // whose label the configuration excludes are not added.
  // Adds a line of text for each class, below the lines of earlier results.
  void add(const ::vart::ClassificationResData& classes, int64_t level);
  // Adds a rectangle, and its caption above or inside it.
  void add(const ::vart::DetectionResData& box, int64_t level);
  // Adds half-transparent rectangles that cover the pixels of every class except 0. `scale` states
  // the position of the maps on the frame; if it is empty, one pixel of a map is one of the frame.
  // Adds nothing where another level is to be covered.
  void add(const ::vart::SegmentationResData& maps, const ::vart::InferResScaleInfo& scale,
           int64_t level);

  ::vart::OverlayShapeInfo& info() { return info_; }

 private:
  std::string caption(const std::string& label, double confidence,
                      const std::string& tracker) const;
  void add_text(std::string text, double x, double y, ::vart::OverlayColorData color);
  double line_height() const;

  const MetaConvertConfig& config_;
  ::vart::OverlayShapeInfo info_;
  std::deque<std::string> texts_;  // the strings to which the shapes point
  int lines_ = 0;                  // number of lines of text for classes
};

}  // namespace millrace::vartx
