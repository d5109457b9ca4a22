#include "cli/detections/photo_segments.h"

#include <algorithm>
#include <map>

#include "cli/detections/photo_grid.h"

namespace millrace::cli {

std::vector<PhotoSegment> draw_segments(const ClassMap& map, const tensor::TensorDesc& input,
                                        const vision::FitOptions& fit,
                                        const std::vector<std::string>& labels, io::Canvas& photo) {
  const InputSize size{.width = input.shape[3], .height = input.shape[2]};
  const PhotoGrid grid(geometry_on(photo, size, fit), size, map.rows, map.columns);
  std::map<uint32_t, uint64_t> pixels;  // by class
  for (uint32_t y = 0; y < photo.height(); ++y)
    for (uint32_t x = 0; x < photo.width(); ++x) {
      const std::optional<size_t> cell = grid.cell_of(x, y);
      if (!cell) continue;
      const uint32_t found = map.classes[*cell];
      ++pixels[found];
      if (found != 0) photo.tint(x, y, found);
    }
  std::vector<PhotoSegment> segments;
  const double all = static_cast<double>(uint64_t{photo.width()} * photo.height());
  for (const auto& [found, count] : pixels)
    segments.push_back({found, found < labels.size() ? labels[found] : std::string(),
                        static_cast<double>(count) / all});
  std::ranges::stable_sort(segments, std::greater<>(), &PhotoSegment::share);
  return segments;
}

}  // namespace millrace::cli
