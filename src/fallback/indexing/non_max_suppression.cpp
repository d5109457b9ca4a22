// NonMaxSuppression: greedy suppression per batch and class. Boxes are visited by descending score;
// a box is selected unless its intersection over union (IoU) with a selected box exceeds the
// threshold. The number of boxes depends on elements, so the shape function runs the whole
// selection.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kBoxes = 0, kScores = 1, kMostPerClass = 2, kOverlap = 3, kLeastScore = 4;

struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

// The two corners may be given in any order.
Box read_box(const float* numbers, bool centre_and_size) {
  if (centre_and_size) {
    const float x = numbers[0], y = numbers[1], width = numbers[2], height = numbers[3];
    return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
          std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

// Returns the intersection over union (IoU) of two boxes.
float overlap_of(const Box& a, const Box& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0 && width > 0)) return 0;
  const float common = height * width, all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

struct Limits {
  size_t most = 0;  // boxes per class
  float overlap = 0;
  float score = -std::numeric_limits<float>::infinity();
};

Limits limits_of(const NodeView& node) {
  Limits limits;
  if (node.has(kMostPerClass))
    limits.most =
        static_cast<size_t>(std::max<int64_t>(0, node.in(kMostPerClass).as<int64_t>()[0]));
  if (node.has(kOverlap)) limits.overlap = node.in(kOverlap).as<float>()[0];
  if (node.has(kLeastScore)) limits.score = node.in(kLeastScore).as<float>()[0];
  return limits;
}

// Returns the boxes with a score above the limit, by descending score; of equal scores, the lower
// index first.
std::vector<size_t> candidates_of(std::span<const float> scores, float limit) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > limit) candidates.push_back(i);
  std::ranges::stable_sort(candidates, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return candidates;
}

std::vector<size_t> select_boxes(std::span<const Box> boxes, std::span<const float> scores,
                                 const Limits& limits) {
  std::vector<size_t> selected;
  for (const size_t candidate : candidates_of(scores, limits.score)) {
    if (selected.size() >= limits.most) break;
    const bool hidden = std::ranges::any_of(selected, [&](size_t other) {
      return overlap_of(boxes[candidate], boxes[other]) > limits.overlap;
    });
    if (!hidden) selected.push_back(candidate);
  }
  return selected;
}

// Returns batch, class and box of each selected box.
std::vector<std::array<int64_t, 3>> selection_of(const NodeView& node) {
  const auto numbers = node.in(kBoxes).as<float>(), scores = node.in(kScores).as<float>();
  const auto batches = static_cast<size_t>(node.in(kScores).dims[0]);
  const auto classes = static_cast<size_t>(node.in(kScores).dims[1]);
  const auto count = static_cast<size_t>(node.in(kScores).dims[2]);
  const bool centre_and_size = node.integer("center_point_box") != 0;
  const Limits limits = limits_of(node);
  std::vector<std::array<int64_t, 3>> selection;
  std::vector<Box> boxes(count);
  for (size_t batch = 0; batch < batches; ++batch) {
    for (size_t i = 0; i < count; ++i)
      boxes[i] = read_box(numbers.data() + (batch * count + i) * 4, centre_and_size);
    for (size_t number = 0; number < classes; ++number) {
      const auto of_class = scores.subspan((batch * classes + number) * count, count);
      for (const size_t box : select_boxes(boxes, of_class, limits))
        selection.push_back(
            {static_cast<int64_t>(batch), static_cast<int64_t>(number), static_cast<int64_t>(box)});
    }
  }
  return selection;
}

Status check_limit(const Inference& node, size_t index, DataType type) {
  if (!node.has(index)) return {};
  if (node.in(index).type != type || node.in(index).elements() != 1)
    return invalid_argument("a limit must have one element, of the type that the standard states");
  return node.require_elements(index);
}

Status shape_of_non_max_suppression(Inference& node) {
  const TensorView &boxes = node.in(kBoxes), &scores = node.in(kScores);
  const bool fits = boxes.rank() == 3 && scores.rank() == 3 && boxes.dims[2] == 4 &&
                    boxes.dims[0] == scores.dims[0] && boxes.dims[1] == scores.dims[2];
  if (!fits || scores.type != DataType::kFloat32)
    return invalid_argument(
        "boxes [batch, boxes, 4] and scores [batch, classes, boxes] of FLOAT32 "
        "do not fit each other");
  MILLRACE_RETURN_IF_ERROR(check_limit(node, kMostPerClass, DataType::kInt64));
  MILLRACE_RETURN_IF_ERROR(check_limit(node, kOverlap, DataType::kFloat32));
  MILLRACE_RETURN_IF_ERROR(check_limit(node, kLeastScore, DataType::kFloat32));
  MILLRACE_RETURN_IF_ERROR(node.require_elements(kBoxes));
  MILLRACE_RETURN_IF_ERROR(node.require_elements(kScores));
  const float overlap = limits_of(node).overlap;
  if (!(overlap >= 0 && overlap <= 1)) return invalid_argument("iou_threshold must be from 0 to 1");
  node.set(0, DataType::kInt64, {static_cast<int64_t>(selection_of(node).size()), 3});
  return {};
}

Status non_max_suppression(const Call& call) {
  int64_t* to = call.out(0).as<int64_t>().data();
  for (const auto& selected : selection_of(call)) to = std::ranges::copy(selected, to).out;
  return {};
}

constexpr AttributeSpec kAttributes[] = {{"center_point_box", AttributeKind::kInteger}};
constexpr TypeSet kTypes = {DataType::kFloat32};

}  // namespace

std::span<const OperatorSpec> non_max_suppression_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"NonMaxSuppression",
       10,
       {2, 5},
       {},
       kTypes,
       shape_of_non_max_suppression,
       non_max_suppression,
       kAttributes,
       true},
  };
  return kOperators;
}

}  // namespace millrace::fallback
