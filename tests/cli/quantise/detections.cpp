#include "tests/cli/quantise/detections.h"

#include <algorithm>
#include <cmath>

namespace millrace::test {
namespace {

float area(const std::array<float, 4>& box) {
  return std::max(0.0F, box[2] - box[0]) * std::max(0.0F, box[3] - box[1]);
}

// Intersection over union of two boxes.
float overlap(const std::array<float, 4>& a, const std::array<float, 4>& b) {
  const float both = area(
      {std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  return both / (area(a) + area(b) - both);
}

// Non-maximum suppression: keeps the detection with the highest score among those of a class that
// overlap.
std::vector<Detection> one_per_object(std::vector<Detection> candidates) {
  std::ranges::sort(candidates, std::ranges::greater{}, &Detection::score);
  std::vector<Detection> kept;
  for (const Detection& candidate : candidates)
    if (std::ranges::none_of(kept, [&](const Detection& other) {
          return other.object_class == candidate.object_class &&
                 overlap(other.corners, candidate.corners) > 0.4F;
        }))
      kept.push_back(candidate);
  return kept;
}

std::array<float, 4> around(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

// The network returns corners, relative to the size of the picture.
std::vector<Detection> ultraface_faces(const Outputs& outputs) {
  constexpr float kWidth = 320, kHeight = 240;
  const std::vector<float>&scores = outputs.at("scores"), &boxes = outputs.at("boxes");
  std::vector<Detection> found;
  for (size_t i = 0; i < scores.size() / 2; ++i)
    if (scores[2 * i + 1] > 0.7F)
      found.push_back({scores[2 * i + 1],
                       0,
                       {boxes[4 * i] * kWidth, boxes[4 * i + 1] * kHeight,
                        boxes[4 * i + 2] * kWidth, boxes[4 * i + 3] * kHeight}});
  return one_per_object(std::move(found));
}

// The network returns the distance of the centre from the cell, and the logarithm of the size, both
// in strides.
std::vector<Detection> yunet_faces(const Outputs& outputs) {
  std::vector<Detection> found;
  for (const size_t stride : {8, 16, 32}) {
    const std::string suffix = std::to_string(stride);
    const std::vector<float>&box = outputs.at("bbox_" + suffix),
          &objectness = outputs.at("obj_" + suffix), &face = outputs.at("cls_" + suffix);
    const size_t columns = 320 / stride;
    const auto step = static_cast<float>(stride);
    for (size_t i = 0; i < face.size(); ++i) {
      const float score = std::sqrt(objectness[i] * face[i]);
      if (score < 0.7F) continue;
      found.push_back({score, 0,
                       around((static_cast<float>(i % columns) + box[4 * i]) * step,
                              (static_cast<float>(i / columns) + box[4 * i + 1]) * step,
                              std::exp(box[4 * i + 2]) * step, std::exp(box[4 * i + 3]) * step)});
    }
  }
  return one_per_object(std::move(found));
}

// The network returns planes of objectness, box and class scores. Offsets of the box are decoded by
// tanh, its sizes by the sigmoid function.
std::vector<Detection> fastestdet_objects(const Outputs& outputs) {
  constexpr size_t kSide = 22, kCells = kSide * kSide, kFirstClass = 5, kClasses = 80;
  constexpr float kPixels = 352;
  const std::vector<float>& values = outputs.at("758");
  std::vector<Detection> found;
  for (size_t cell = 0; cell < kCells; ++cell) {
    const auto plane = [&](size_t number) { return values[number * kCells + cell]; };
    size_t best = 0;
    for (size_t i = 1; i < kClasses; ++i)
      if (plane(kFirstClass + i) > plane(kFirstClass + best)) best = i;
    const float score = std::pow(plane(0), 0.6F) * std::pow(plane(kFirstClass + best), 0.4F);
    if (score < 0.65F) continue;
    const auto column = static_cast<float>(cell % kSide), row = static_cast<float>(cell / kSide);
    found.push_back({score, best,
                     around((std::tanh(plane(1)) + column) / kSide * kPixels,
                            (std::tanh(plane(2)) + row) / kSide * kPixels,
                            sigmoid(plane(3)) * kPixels, sigmoid(plane(4)) * kPixels)});
  }
  return one_per_object(std::move(found));
}

}  // namespace millrace::test
