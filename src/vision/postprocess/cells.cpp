#include "vision/postprocess/cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

namespace millrace::vision {
namespace {

constexpr std::array<std::string_view, 4> kLayouts = {"NCHW", "NHWC", "NCH", "NHC"};

Status check_size(std::span<const uint32_t> shape) {
  uint64_t elements = 1;
  for (const uint32_t dimension : shape) {
    elements *= dimension;
    if (elements == 0 || elements > std::numeric_limits<uint32_t>::max())
      return invalid_argument(
          fmt::format("the shape [{}] has no elements or too many", fmt::join(shape, ", ")));
  }
  return {};
}

}  // namespace

Result<CellLayout> cell_layout(std::span<const uint32_t> shape, std::string_view layout) {
  if (std::ranges::find(kLayouts, layout) == kLayouts.end())
    return invalid_argument(fmt::format("the layout \"{}\" is not supported, only {}", layout,
                                        fmt::join(kLayouts, ", ")));
  MILLRACE_RETURN_IF_ERROR(check_size(shape));
  const std::string_view letters = layout.substr(1);
  std::span<const uint32_t> inner = shape;
  if (shape.size() == layout.size() && shape[0] == 1) inner = shape.subspan(1);
  if (inner.size() != letters.size())
    return invalid_argument(fmt::format("the shape [{}] is not one frame of layout {}",
                                        fmt::join(shape, ", "), layout));
  const auto dimension = [&](char letter) { return inner[letters.find(letter)]; };
  CellLayout result{.channels = dimension('C'),
                    .channels_first = letters.starts_with('C'),
                    .is_map = letters.size() == 3,
                    .rows = dimension('H')};
  result.columns = result.is_map ? dimension('W') : 1;
  result.cells = result.rows * result.columns;
  return result;
}

}  // namespace millrace::vision
