// FrameGeometry: the transformation of coordinates of a model's input to coordinates of the frame
// from which preprocessing made that input. It undoes padding, scaling and cropping. Immutable.
#pragma once

#include <cstdint>

#include "vart/vart_inferresult_types.hpp"

namespace millrace::vartx {

class FrameGeometry {
 public:
  // The identity.
  FrameGeometry() noexcept = default;
  // The transformation that `info` describes; its declaration states which of its fields take
  // precedence. Throws std::invalid_argument for a scale that is not a positive number, or an
  // offset that is not finite.
  explicit FrameGeometry(const ::vart::InferResScaleInfo& info);

  double frame_x(double model_x) const noexcept { return x_.to_frame(model_x); }
  double frame_y(double model_y) const noexcept { return y_.to_frame(model_y); }

  // Replaces a box by the one between its transformed corners, rounded to whole pixels.
  void transform(::vart::DetectionResData& box) const noexcept;

 private:
  // frame = (model - pad) * factor + crop
  struct Axis {
    double pad = 0;
    double factor = 1;
    double crop = 0;
    double to_frame(double model) const noexcept { return (model - pad) * factor + crop; }
  };
  static Axis axis_of(float scale, float crop, float pad);

  Axis x_;
  Axis y_;
};

// Round to the nearest integer, halves away from zero, and saturate to the range of the type. NaN
// gives 0.
int32_t rounded_coordinate(double value) noexcept;
uint32_t rounded_size(double value) noexcept;

}  // namespace millrace::vartx
