#include "vision/postprocess/grids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::vision {
namespace {

constexpr uint64_t kMostBoxes = 1 << 24;

bool is_size(float side) {
  return std::isfinite(side) && side > 0;
}

Status check_grid(const Grid& grid) {
  if (grid.rows == 0 || grid.columns == 0)
    return invalid_argument(
        fmt::format("a grid of {} x {} cells is empty", grid.rows, grid.columns));
  for (const Anchor& anchor : grid.anchors)
    if (!is_size(anchor.width) || !is_size(anchor.height))
      return invalid_argument(fmt::format("anchor {} x {}: width and height must be positive",
                                          anchor.width, anchor.height));
  return {};
}

}  // namespace

Status check_grids(const GridSet& set) {
  if (set.grids.empty()) return invalid_argument("there is no grid");
  if (set.input_width == 0 || set.input_height == 0)
    return invalid_argument("the width or height of the network's input is 0");
  uint64_t boxes = 0;
  for (const Grid& grid : set.grids) {
    MILLRACE_RETURN_IF_ERROR(check_grid(grid));
    if (grid.rows > kMostBoxes || grid.columns > kMostBoxes)
      return invalid_argument("a grid has too many cells");
    boxes += std::min(uint64_t{grid.rows} * grid.columns, kMostBoxes + 1) * grid.boxes_per_cell();
    if (boxes > kMostBoxes)
      return invalid_argument(fmt::format("the grids have more than {} boxes", kMostBoxes));
  }
  return {};
}

uint32_t count_boxes(const GridSet& set) noexcept {
  uint32_t boxes = 0;
  for (const Grid& grid : set.grids) boxes += grid.cells() * grid.boxes_per_cell();
  return boxes;
}

Stride stride_of(const GridSet& set, const Grid& grid) noexcept {
  return {static_cast<float>(set.input_width) / static_cast<float>(grid.columns),
          static_cast<float>(set.input_height) / static_cast<float>(grid.rows)};
}

}  // namespace millrace::vision
