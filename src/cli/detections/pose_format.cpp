// YOLOv8's pose models: [1,5+3K,N], whose columns are candidates with centre, size and score of a
// person, and K key points with their position and their visibility from 0 to 1.
#include "cli/detections/box_format.h"

namespace millrace::cli {
namespace {

constexpr size_t kScoreRow = 4, kFirstPointRow = 5, kRowsOfAPoint = 3;
constexpr float kLeastVisibility = 0.5F;

// Returns the candidates in columns; nothing if the outputs do not have the format. Positions
// beyond 1 tell it apart from class scores.
std::optional<Matrix> poses_in(DetectorOutputs outputs) {
  if (outputs.size() != 1) return std::nullopt;
  const auto all = matrix_of(outputs[0]);
  if (!all || all->rows >= all->columns || all->rows < kFirstPointRow + kRowsOfAPoint ||
      (all->rows - kFirstPointRow) % kRowsOfAPoint != 0)
    return std::nullopt;
  bool any_position = false;
  for (size_t column = 0; column < all->columns; ++column) {
    if (!is_score(all->at(kScoreRow, column)) || !(all->at(2, column) >= 0) ||
        !(all->at(3, column) >= 0))
      return std::nullopt;
    for (size_t row = kFirstPointRow; row < all->rows; row += kRowsOfAPoint) {
      if (!is_score(all->at(row + 2, column))) return std::nullopt;
      any_position = any_position || !is_score(all->at(row, column));
    }
  }
  return any_position ? all : std::nullopt;
}

vision::Box box_of(const Matrix& poses, size_t column) {
  return vision::centred_box(poses.at(0, column), poses.at(1, column), poses.at(2, column),
                             poses.at(3, column));
}

}  // namespace

std::optional<Detections> decode_poses(DetectorOutputs outputs, const InputSize&,
                                       float least_score) {
  const auto poses = poses_in(outputs);
  if (!poses) return std::nullopt;
  Detections found;
  for (size_t column = 0; column < poses->columns; ++column)
    if (poses->at(kScoreRow, column) >= least_score)
      found.push_back({box_of(*poses, column), poses->at(kScoreRow, column), 0});
  return found;
}

void for_each_pose(DetectorOutputs outputs, const TakePoints& take) {
  const auto poses = poses_in(outputs);
  if (!poses) return;
  for (size_t column = 0; column < poses->columns; ++column) {
    KeyPoints points;
    for (size_t row = kFirstPointRow; row < poses->rows; row += kRowsOfAPoint)
      if (poses->at(row + 2, column) >= kLeastVisibility)
        points.push_back({poses->at(row, column), poses->at(row + 1, column)});
    take(box_of(*poses, column), std::move(points));
  }
}

}  // namespace millrace::cli
