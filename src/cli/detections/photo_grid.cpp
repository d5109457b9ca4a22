#include "cli/detections/photo_grid.h"

namespace millrace::cli {

vision::Geometry geometry_on(const io::Canvas& photo, const InputSize& input,
                             const vision::FitOptions& fit) {
  return vision::geometry_of(
      vision::place(fit, {0, 0, photo.width(), photo.height()}, {0, 0, input.width, input.height}));
}

PhotoGrid::PhotoGrid(const vision::Geometry& geometry, const InputSize& input, uint32_t rows,
                     uint32_t columns) noexcept
    : geometry_(geometry), input_(input), rows_(rows), columns_(columns) {}

std::optional<size_t> PhotoGrid::cell_of(uint32_t x, uint32_t y) const noexcept {
  const double across = (x + 0.5 - geometry_.crop_x) * geometry_.scale_x + geometry_.pad_x;
  const double down = (y + 0.5 - geometry_.crop_y) * geometry_.scale_y + geometry_.pad_y;
  if (!(across >= 0 && across < input_.width && down >= 0 && down < input_.height))
    return std::nullopt;
  const auto column = static_cast<size_t>(across * columns_ / input_.width);
  const auto row = static_cast<size_t>(down * rows_ / input_.height);
  return row * columns_ + column;
}

}  // namespace millrace::cli
