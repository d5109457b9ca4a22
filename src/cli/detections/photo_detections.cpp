#include "cli/detections/photo_detections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/detections/key_points.h"
#include "cli/detections/masks.h"
#include "cli/detections/photo_grid.h"
#include "vision/preprocess/geometry.h"

namespace millrace::cli {
namespace {

constexpr uint32_t kLongestJpegSide = 65500;  // JPEG_MAX_DIMENSION of libjpeg-turbo

PhotoDetection on_photo(const vision::Detection& found, const KeyPoints& points,
                        const vision::Geometry& geometry, const io::Canvas& photo,
                        const std::vector<std::string>& labels) {
  const auto x = [&](double at) {
    return std::clamp((at - geometry.pad_x) / geometry.scale_x + geometry.crop_x, 0.0,
                      static_cast<double>(photo.width()));
  };
  const auto y = [&](double at) {
    return std::clamp((at - geometry.pad_y) / geometry.scale_y + geometry.crop_y, 0.0,
                      static_cast<double>(photo.height()));
  };
  const vision::Box& box = found.box;
  std::vector<std::pair<double, double>> key_points;
  for (const KeyPoint& point : points)
    if (std::isfinite(point.x) && std::isfinite(point.y))
      key_points.emplace_back(x(point.x), y(point.y));
  return {.object_class = found.class_id,
          .label = found.class_id < labels.size() ? labels[found.class_id] : std::string(),
          .score = found.score,
          .left = x(box.x),
          .top = y(box.y),
          .right = x(double{box.x} + box.width),
          .bottom = y(double{box.y} + box.height),
          .key_points = std::move(key_points),
          .mask = {}};
}

// Returns the pixels of the photo in the cells of a mask, and so in the box of its detection.
std::vector<PixelRun> mask_on_photo(const Mask& mask, const PhotoDetection& found,
                                    const vision::Geometry& geometry, const InputSize& input) {
  if (mask.rows == 0) return {};
  const PhotoGrid grid(geometry, input, mask.rows, mask.columns);
  const auto left = static_cast<uint32_t>(found.left);
  const auto right = static_cast<uint32_t>(std::ceil(found.right));
  const auto bottom = static_cast<uint32_t>(std::ceil(found.bottom));
  std::vector<PixelRun> runs;
  for (auto y = static_cast<uint32_t>(found.top); y < bottom; ++y)
    for (uint32_t x = left; x < right; ++x) {
      const std::optional<size_t> cell = grid.cell_of(x, y);
      if (!cell || !mask.inside[*cell]) continue;
      if (!runs.empty() && runs.back().row == y && runs.back().right == x)
        ++runs.back().right;
      else
        runs.push_back({y, x, x + 1});
    }
  return runs;
}

std::string caption_of(const PhotoDetection& found) {
  return found.label.empty() ? fmt::format("{} {:.2f}", found.object_class, found.score)
                             : fmt::format("{} {:.2f}", found.label, found.score);
}

}  // namespace

Status check_drawing(const std::string& path) {
  if (path.empty() || !io::writable_format(path).empty()) return {};
  return invalid_argument(
      fmt::format("--draw {}: pictures are written as .jpg or .png files", path));
}

Result<io::Canvas> open_photo(const LoadedInputs& inputs, const std::string& path) {
  if (inputs.pictures.empty())
    return invalid_argument("--draw needs a picture as input, such as a .jpg file");
  if (inputs.pictures.front() != 0)
    return invalid_argument("--draw needs a picture as the first input of the model");
  if (inputs.frames != 1)
    return invalid_argument(fmt::format("--draw takes one picture, not {}", inputs.frames));
  const std::string& photo = inputs.names.front();
  MILLRACE_ASSIGN_OR_RETURN(const FileKind kind, kind_of(photo));
  if (kind != FileKind::kPicture)
    return invalid_argument(fmt::format("--draw needs a picture file, which {} is not", photo));
  MILLRACE_ASSIGN_OR_RETURN(io::Canvas canvas, io::Canvas::open(photo));
  if (io::writable_format(path) == "jpeg" &&
      std::max(canvas.width(), canvas.height()) > kLongestJpegSide)
    return invalid_argument(fmt::format(
        "--draw {}: {} has {} x {} pixels, but a side of a JPEG at most {}: choose a .png file",
        path, photo, canvas.width(), canvas.height(), kLongestJpegSide));
  return canvas;
}

DetectorOutput detector_output(const graph::CompiledModel& model, const graph::Boundary& output,
                               std::vector<float> values) {
  return {output.cpu, real_values(model, output, std::move(values))};
}

Result<std::vector<PhotoDetection>> detections_on_photo(std::span<const DetectorOutput> outputs,
                                                        const tensor::TensorDesc& input,
                                                        const vision::FitOptions& fit,
                                                        const io::Canvas& photo, float least_score,
                                                        const std::vector<std::string>& labels) {
  const InputSize size{.width = input.shape[3], .height = input.shape[2]};
  MILLRACE_ASSIGN_OR_RETURN(const auto found, detections_in(outputs, size, least_score));
  const vision::Geometry geometry = geometry_on(photo, size, fit);
  const std::vector<KeyPoints> points = key_points_of(found, outputs, size);
  const std::vector<Mask> masks = masks_of(found, outputs, size);
  std::vector<PhotoDetection> detections;
  detections.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    PhotoDetection mapped = on_photo(found[i], points[i], geometry, photo, labels);
    if (!(mapped.left < mapped.right && mapped.top < mapped.bottom)) continue;
    mapped.mask = mask_on_photo(masks[i], mapped, geometry, size);
    detections.push_back(std::move(mapped));
  }
  return detections;
}

void draw_detections(std::span<const PhotoDetection> detections, io::Canvas& photo) {
  for (auto found = detections.rbegin(); found != detections.rend(); ++found)
    for (const PixelRun& run : found->mask)
      for (uint32_t x = run.left; x < run.right; ++x) photo.tint(x, run.row, found->object_class);
  const double half = std::max(1.0, std::max(photo.width(), photo.height()) / 200.0);
  for (auto found = detections.rbegin(); found != detections.rend(); ++found) {
    photo.draw({.left = found->left,
                .top = found->top,
                .right = found->right,
                .bottom = found->bottom,
                .caption = caption_of(*found),
                .colour = found->object_class});
    for (const auto& [x, y] : found->key_points)
      photo.draw({.left = x - half,
                  .top = y - half,
                  .right = x + half,
                  .bottom = y + half,
                  .caption = "",
                  .colour = found->object_class + 1});
  }
}

}  // namespace millrace::cli
