// The grids on which detectors place boxes: every cell of a grid stands for a square of the
// network's input and has one box, or one for each of several anchors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vision/postprocess/cells.h"

namespace millrace::vision {

// The usual size of a box, in pixels of the network's input.
struct Anchor {
  float width = 0;
  float height = 0;
};

struct Grid {
  uint32_t rows = 0;
  uint32_t columns = 0;
  std::vector<Anchor> anchors;  // empty: one box for each cell, without a usual size

  uint32_t cells() const noexcept { return rows * columns; }
  uint32_t boxes_per_cell() const noexcept {
    return anchors.empty() ? 1 : static_cast<uint32_t>(anchors.size());
  }
};

// A network's input and the grids over it.
struct GridSet {
  uint32_t input_width = 0;  // pixels
  uint32_t input_height = 0;
  std::vector<Grid> grids;
};

// kInvalidArgument when there is no grid, a size is 0, a side of an anchor is not a positive
// number, or the boxes of all grids are more than 2^24.
Status check_grids(const GridSet& set);

// Boxes of all grids.
uint32_t count_boxes(const GridSet& set) noexcept;

// One box's place: in a cell of a grid, for one of its anchors.
struct BoxPlace {
  const Grid* grid = nullptr;
  uint32_t row = 0;
  uint32_t column = 0;
  uint32_t anchor = 0;
};

// Pixels of the input from one cell to the next.
struct Stride {
  float x = 0;
  float y = 0;
};
Stride stride_of(const GridSet& set, const Grid& grid) noexcept;

// Calls visit(place) for the boxes of a grid in the order in which networks list them: anchor by
// anchor, then row by row.
template <class Visit>
void for_each_box(const Grid& grid, Visit visit) {
  for (uint32_t anchor = 0; anchor < grid.boxes_per_cell(); ++anchor)
    for (uint32_t row = 0; row < grid.rows; ++row)
      for (uint32_t column = 0; column < grid.columns; ++column)
        visit(BoxPlace{&grid, row, column, anchor});
}

}  // namespace millrace::vision
