// The grids of an object detector. Each grid divides the network's input into cells, and the
// network predicts one box for each cell, or one for each cell and anchor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/cells.h"

namespace millrace::vision {

// An anchor (prior) box, relative to which the network predicts the size of a box; in pixels of the
// network's input.
struct Anchor {
  float width = 0;
  float height = 0;
};

struct Grid {
  uint32_t rows = 0;
  uint32_t columns = 0;
  std::vector<Anchor> anchors;  // empty: anchor-free, with one box per cell

  uint32_t cells() const noexcept { return rows * columns; }
  uint32_t boxes_per_cell() const noexcept {
    return anchors.empty() ? 1 : static_cast<uint32_t>(anchors.size());
  }
};

// The size of a network's input, and its grids.
struct GridSet {
  uint32_t input_width = 0;  // pixels
  uint32_t input_height = 0;
  std::vector<Grid> grids;
};

// kInvalidArgument when there is no grid, a size is 0, a side of an anchor is not a positive finite
// number, or the grids have more than 2^24 boxes in total.
Status check_grids(const GridSet& set);

// Returns the number of boxes of all grids.
uint32_t count_boxes(const GridSet& set) noexcept;

// Identifies a box: the cell of a grid, and the anchor.
struct BoxPlace {
  const Grid* grid = nullptr;
  uint32_t row = 0;
  uint32_t column = 0;
  uint32_t anchor = 0;
};

// The distance between adjacent cells, in pixels of the input.
struct Stride {
  float x = 0;
  float y = 0;
};
Stride stride_of(const GridSet& set, const Grid& grid) noexcept;

// Calls visit(place) for the boxes of a grid in the order in which networks list them: by anchor,
// then by row, then by column.
template <class Visit>
void for_each_box(const Grid& grid, Visit visit) {
  for (uint32_t anchor = 0; anchor < grid.boxes_per_cell(); ++anchor)
    for (uint32_t row = 0; row < grid.rows; ++row)
      for (uint32_t column = 0; column < grid.columns; ++column)
        visit(BoxPlace{&grid, row, column, anchor});
}

}  // namespace millrace::vision
