// PhotoGrid: the map from the pixels of a photo to the cells of a grid over the network's input,
// which the photo was resized to. Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cli/detections/detections.h"
#include "io/pictures/canvas.h"
#include "vision/preprocess/geometry.h"

namespace millrace::cli {

// Returns the map from the photo to the network's input.
vision::Geometry geometry_on(const io::Canvas& photo, const InputSize& input,
                             const vision::FitOptions& fit);

class PhotoGrid {
 public:
  // Requirement: no size is 0.
  PhotoGrid(const vision::Geometry& geometry, const InputSize& input, uint32_t rows,
            uint32_t columns) noexcept;

  // Returns the cell, counted row by row, in which the centre of a pixel lies; nothing if resizing
  // has cut the pixel off.
  std::optional<size_t> cell_of(uint32_t x, uint32_t y) const noexcept;

 private:
  vision::Geometry geometry_;
  InputSize input_;
  uint32_t rows_;
  uint32_t columns_;
};

}  // namespace millrace::cli
