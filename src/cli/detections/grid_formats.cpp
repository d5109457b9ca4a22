// Formats whose boxes lie in the cells of grids.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "cli/detections/box_format.h"
#include "vision/postprocess/scores.h"

namespace millrace::cli {
namespace {

const DetectorOutput* output_named(DetectorOutputs outputs, const std::string& name) {
  for (const DetectorOutput& output : outputs)
    if (output.desc.name == name) return &output;
  return nullptr;
}

// The box of a cell, which is relative to the cell in units of the stride, with the logarithm of
// its size.
vision::Box yunet_box(const float* box, size_t cell, size_t columns, float step) {
  const size_t row = cell / columns, column = cell % columns;
  return vision::centred_box((static_cast<float>(column) + box[0]) * step,
                             (static_cast<float>(row) + box[1]) * step, std::exp(box[2]) * step,
                             std::exp(box[3]) * step);
}

// Five points of each cell, relative to it in units of the stride: eyes, nose and corners of the
// mouth.
void take_yunet_points(DetectorOutputs outputs, const InputSize& input, uint32_t stride,
                       const TakePoints& take) {
  constexpr size_t kPoints = 5;
  const std::string suffix = std::to_string(stride);
  const DetectorOutput* const boxes = output_named(outputs, "bbox_" + suffix);
  const DetectorOutput* const points = output_named(outputs, "kps_" + suffix);
  const size_t columns = input.width / stride, cells = columns * (input.height / stride);
  if (boxes == nullptr || points == nullptr || boxes->values.size() != 4 * cells ||
      points->values.size() != 2 * kPoints * cells)
    return;
  const auto step = static_cast<float>(stride);
  for (size_t cell = 0; cell < cells; ++cell) {
    KeyPoints of_face;
    for (size_t i = 2 * kPoints * cell; i < 2 * kPoints * (cell + 1); i += 2)
      of_face.push_back({(static_cast<float>(cell % columns) + points->values[i]) * step,
                         (static_cast<float>(cell / columns) + points->values[i + 1]) * step});
    take(yunet_box(&boxes->values[4 * cell], cell, columns, step), std::move(of_face));
  }
}

// One scale of YuNet: a face in each cell.
std::optional<Detections> decode_yunet_scale(DetectorOutputs outputs, const InputSize& input,
                                             uint32_t stride, float least_score) {
  const std::string suffix = std::to_string(stride);
  const DetectorOutput* const faces = output_named(outputs, "cls_" + suffix);
  const DetectorOutput* const objects = output_named(outputs, "obj_" + suffix);
  const DetectorOutput* const boxes = output_named(outputs, "bbox_" + suffix);
  if (faces == nullptr || objects == nullptr || boxes == nullptr) return std::nullopt;
  const size_t columns = input.width / stride, cells = columns * (input.height / stride);
  if (faces->values.size() != cells || objects->values.size() != cells ||
      boxes->values.size() != 4 * cells)
    return std::nullopt;
  Detections found;
  const auto step = static_cast<float>(stride);
  for (size_t cell = 0; cell < cells; ++cell) {
    const float face = faces->values[cell], object = objects->values[cell];
    if (!is_score(face) || !is_score(object)) return std::nullopt;
    const float score = std::sqrt(std::max(face, 0.0F) * std::max(object, 0.0F));
    if (!(score >= least_score)) continue;
    found.push_back({yunet_box(&boxes->values[4 * cell], cell, columns, step), score, 0});
  }
  return found;
}

constexpr size_t kFirstClassPlane = 5;

// The planes of FastestDet: objectness, four of the box, and a probability for each class.
struct Planes {
  std::span<const float> values;
  size_t planes, cells;

  float at(size_t plane, size_t cell) const { return values[plane * cells + cell]; }
  size_t best_class(size_t cell) const {
    size_t best = kFirstClassPlane;
    for (size_t plane = best + 1; plane < planes; ++plane)
      if (at(plane, cell) > at(best, cell)) best = plane;
    return best - kFirstClassPlane;
  }
  bool has_scores(size_t cell) const {
    bool scores = is_score(at(0, cell));
    for (size_t plane = kFirstClassPlane; plane < planes; ++plane)
      scores = scores && is_score(at(plane, cell));
    return scores;
  }
  // Whether the scores of most cells are probabilities, whose sum is 1. In outputs of 8 bits the
  // rounding of many classes adds up in some cells.
  bool are_probable() const {
    constexpr float kTolerance = 0.02F;
    size_t probable = 0;
    for (size_t cell = 0; cell < cells; ++cell) {
      float sum = 0;
      for (size_t plane = kFirstClassPlane; plane < planes; ++plane) sum += at(plane, cell);
      if (std::abs(sum - 1) < kTolerance) ++probable;
    }
    return 2 * probable > cells;
  }
};

}  // namespace

void for_each_yunet_face(DetectorOutputs outputs, const InputSize& input, const TakePoints& take) {
  for (const uint32_t stride : {8U, 16U, 32U}) take_yunet_points(outputs, input, stride, take);
}

std::optional<Detections> decode_yunet(DetectorOutputs outputs, const InputSize& input,
                                       float least_score) {
  Detections all;
  for (const uint32_t stride : {8U, 16U, 32U}) {
    const auto found = decode_yunet_scale(outputs, input, stride, least_score);
    if (!found) return std::nullopt;
    all.insert(all.end(), found->begin(), found->end());
  }
  return all;
}

// Offsets of the centre are decoded by tanh and sizes by the sigmoid function; the score weighs
// objectness and class.
std::optional<Detections> decode_fastestdet(DetectorOutputs outputs, const InputSize& input,
                                            float least_score) {
  if (outputs.size() != 1 || outputs[0].desc.shape.size() != 4) return std::nullopt;
  const std::vector<uint32_t>& shape = outputs[0].desc.shape;
  if (shape[0] != 1 || shape[1] <= kFirstClassPlane) return std::nullopt;
  const size_t columns = shape[3], cells = shape[2] * columns;
  const Planes planes{outputs[0].values, shape[1], cells};
  for (size_t cell = 0; cell < cells; ++cell)
    if (!planes.has_scores(cell)) return std::nullopt;
  if (!planes.are_probable()) return std::nullopt;
  const float step_x = static_cast<float>(input.width) / static_cast<float>(columns);
  const float step_y = static_cast<float>(input.height) / static_cast<float>(shape[2]);
  Detections found;
  for (size_t cell = 0; cell < cells; ++cell) {
    const size_t best = planes.best_class(cell);
    const float score = std::pow(std::max(planes.at(0, cell), 0.0F), 0.6F) *
                        std::pow(std::max(planes.at(kFirstClassPlane + best, cell), 0.0F), 0.4F);
    if (!(score >= least_score)) continue;
    const size_t row = cell / columns, column = cell % columns;
    found.push_back({vision::centred_box(
                         (static_cast<float>(column) + std::tanh(planes.at(1, cell))) * step_x,
                         (static_cast<float>(row) + std::tanh(planes.at(2, cell))) * step_y,
                         vision::sigmoid(planes.at(3, cell)) * static_cast<float>(input.width),
                         vision::sigmoid(planes.at(4, cell)) * static_cast<float>(input.height)),
                     score, static_cast<uint32_t>(best)});
  }
  return found;
}

}  // namespace millrace::cli
