// A detection is found again by its box, which the same arithmetic gives from the same values.
#include "cli/detections/key_points.h"

#include <algorithm>

#include "cli/detections/box_format.h"

namespace millrace::cli {
namespace {

bool same(const vision::Box& a, const vision::Box& b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

}  // namespace

std::vector<KeyPoints> key_points_of(std::span<const vision::Detection> detections,
                                     std::span<const DetectorOutput> outputs,
                                     const InputSize& input) {
  std::vector<KeyPoints> points(detections.size());
  const TakePoints take = [&](const vision::Box& box, KeyPoints found) {
    for (size_t i = 0; i < detections.size(); ++i)
      if (points[i].empty() && same(detections[i].box, box)) points[i] = found;
  };
  for_each_yunet_face(outputs, input, take);
  for_each_pose(outputs, take);
  return points;
}

}  // namespace millrace::cli
