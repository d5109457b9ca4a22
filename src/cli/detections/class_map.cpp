#include "cli/detections/class_map.h"

#include <algorithm>
#include <cmath>

#include "cli/detections/box_format.h"

namespace millrace::cli {
namespace {

// A side of the map has at least an eighth of the input's pixels: coarser maps are those of
// detectors.
constexpr uint64_t kCoarsest = 8;
constexpr float kMostClasses = 65536;
constexpr uint32_t kColourPlanes = 3;

// A map of cells, each with values for `planes` classes.
struct ClassPlanes {
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t planes = 0;
  bool planes_last = false;
  std::span<const float> values;

  size_t cells() const { return size_t{rows} * columns; }
  float at(size_t cell, size_t plane) const {
    return values[planes_last ? cell * planes + plane : plane * cells() + cell];
  }
};

// Whether the grid has the input's aspect ratio, but for rounding to whole cells, and enough cells.
bool covers(uint32_t rows, uint32_t columns, const InputSize& input) {
  if (rows == 0 || columns == 0 || rows > input.height || columns > input.width) return false;
  if (rows * kCoarsest < input.height || columns * kCoarsest < input.width) return false;
  const int64_t difference = static_cast<int64_t>(uint64_t{rows} * input.width) -
                             static_cast<int64_t>(uint64_t{columns} * input.height);
  return std::abs(difference) <= std::max(input.width, input.height);
}

std::optional<ClassPlanes> planes_of(const DetectorOutput& output, const InputSize& input) {
  const std::vector<uint32_t>& shape = output.desc.shape;
  if (shape.empty() || shape[0] != 1) return std::nullopt;
  std::optional<ClassPlanes> found;
  if (shape.size() == 3 && covers(shape[1], shape[2], input))
    found = ClassPlanes{shape[1], shape[2], 1, false, output.values};
  else if (shape.size() == 4 && covers(shape[2], shape[3], input))
    found = ClassPlanes{shape[2], shape[3], shape[1], false, output.values};
  else if (shape.size() == 4 && covers(shape[1], shape[2], input))
    found = ClassPlanes{shape[1], shape[2], shape[3], true, output.values};
  if (!found || found->planes == 0 || found->cells() * found->planes != output.values.size())
    return std::nullopt;
  return found;
}

// Whether the values of most cells add up to 1, which those of a picture do not.
bool add_up_to_one(const ClassPlanes& map) {
  constexpr float kTolerance = 0.02F;
  size_t probable = 0;
  for (size_t cell = 0; cell < map.cells(); ++cell) {
    float sum = 0;
    for (size_t plane = 0; plane < map.planes; ++plane) sum += map.at(cell, plane);
    if (std::abs(sum - 1) <= kTolerance) ++probable;
  }
  return 2 * probable > map.cells();
}

ClassMap greatest_classes(const ClassPlanes& map) {
  ClassMap found{map.rows, map.columns, std::vector<uint32_t>(map.cells())};
  for (size_t cell = 0; cell < map.cells(); ++cell) {
    uint32_t best = 0;
    for (uint32_t plane = 1; plane < map.planes; ++plane)
      if (map.at(cell, plane) > map.at(cell, best)) best = plane;
    found.classes[cell] = best;
  }
  return found;
}

bool is_class_number(float value) {
  return value >= 0 && value < kMostClasses && value == std::floor(value);
}

// Reads one plane. Whole numbers are classes, and others say how sure the network is.
std::optional<ClassMap> of_one_plane(const ClassPlanes& map, float least_score) {
  const bool classes = std::ranges::all_of(map.values, is_class_number);
  if (!classes && !std::ranges::all_of(map.values, is_score)) return std::nullopt;
  ClassMap found{map.rows, map.columns, std::vector<uint32_t>(map.cells())};
  std::ranges::transform(map.values, found.classes.begin(), [&](float value) {
    return classes ? static_cast<uint32_t>(value) : uint32_t{value >= least_score};
  });
  return found;
}

}  // namespace

std::optional<ClassMap> class_map_in(std::span<const DetectorOutput> outputs,
                                     const InputSize& input, float least_score) {
  std::vector<ClassPlanes> maps;
  for (const DetectorOutput& output : outputs) {
    const std::optional<ClassPlanes> map = planes_of(output, input);
    if (!map) return std::nullopt;
    maps.push_back(*map);
  }
  if (maps.empty()) return std::nullopt;
  const ClassPlanes& map = maps.front();
  if (map.planes == 1) return of_one_plane(map, least_score);
  if (map.planes == kColourPlanes && !add_up_to_one(map)) return std::nullopt;
  return greatest_classes(map);
}

}  // namespace millrace::cli
