// OverlayShapes: the shapes that show results, collected one result after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_overlay_types.hpp"
#include "vartx/overlay/metaconvert_config.h"

namespace millrace::vartx {

// To be used from one thread at a time. Texts point into the object, so it is not copied.
class OverlayShapes {
 public:
  // The configuration must outlive every call of add.
  explicit OverlayShapes(const MetaConvertConfig& config) : config_(config) {}
  OverlayShapes(const OverlayShapes&) = delete;
  OverlayShapes& operator=(const OverlayShapes&) = delete;

  // `level` is that of the result's node in the tree, and chooses the colour.
  // A line of text for each class, below those of results before it.
  void add(const ::vart::ClassificationResData& classes, int64_t level);
  // The box, and its label above or inside it.
  void add(const ::vart::DetectionResData& box, int64_t level);
  // A half transparent rectangle for each group of neighbouring pixels of one class but 0. `scale`
  // says how the maps lie on the frame; without sizes of model and frame, a pixel for a pixel.
  void add(const ::vart::SegmentationResData& maps, const ::vart::InferResScaleInfo& scale);

  ::vart::OverlayShapeInfo& info() { return info_; }

 private:
  std::string caption(const std::string& label, int64_t class_id, double confidence) const;
  void add_text(std::string text, double x, double y, int64_t level);
  double line_height() const;

  const MetaConvertConfig& config_;
  ::vart::OverlayShapeInfo info_;
  std::deque<std::string> texts_;  // which the shapes point to
  int lines_ = 0;                  // of classes so far
};

}  // namespace millrace::vartx
