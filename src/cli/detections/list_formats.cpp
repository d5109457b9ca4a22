// Formats that list a box in each row or column, of all candidates or of those that NMS has left.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cli/detections/box_format.h"

namespace millrace::cli {
namespace {

constexpr size_t kBoxColumns = 4;

bool mentions(const DetectorOutput& output, std::string_view word) {
  return output.desc.name.find(word) != std::string::npos;
}

// Whether all dimensions but one are 1, and that has `length` elements.
bool is_list(const DetectorOutput& output, size_t length) {
  return output.values.size() == length &&
         std::ranges::count_if(output.desc.shape, [](uint32_t side) { return side != 1; }) <= 1;
}

bool is_integer_type(const DetectorOutput& output) {
  return output.desc.type == tensor::DataType::kInt64 ||
         output.desc.type == tensor::DataType::kInt32;
}

bool is_class(float value) {
  return value >= 0 && value < 1e6F && value == std::floor(value);
}

float greatest_of(std::span<const float> values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

// The class with the greatest score among the columns of a row from `first` on.
size_t best_column(const Matrix& rows, size_t row, size_t first) {
  size_t best = first;
  for (size_t column = first + 1; column < rows.columns; ++column)
    if (rows.at(row, column) > rows.at(row, best)) best = column;
  return best;
}

// Whether the scores of every row are probabilities of classes, of which one is true. The first is
// then the background.
bool has_background(const Matrix& scores) {
  constexpr float kTolerance = 0.02F;
  if (scores.columns < 2) return false;
  for (size_t row = 0; row < scores.rows; ++row) {
    float sum = 0;
    for (size_t column = 0; column < scores.columns; ++column) sum += scores.at(row, column);
    if (std::abs(sum - 1) > kTolerance) return false;
  }
  return true;
}

bool are_corners(const Matrix& boxes) {
  for (size_t row = 0; row < boxes.rows; ++row)
    if (!(boxes.at(row, 0) <= boxes.at(row, 2) && boxes.at(row, 1) <= boxes.at(row, 3)))
      return false;
  return true;
}

// Rows with the centre and size of a box, perhaps an objectness, and class scores.
Matrix transposed(const Matrix& from, std::vector<float>& values) {
  values.resize(from.values.size());
  for (size_t row = 0; row < from.rows; ++row)
    for (size_t column = 0; column < from.columns; ++column)
      values[column * from.rows + row] = from.at(row, column);
  return {from.columns, from.rows, values};
}

std::optional<Detections> decode_candidates(const Matrix& rows, bool has_objectness,
                                            const InputSize& input, float least_score) {
  const size_t first_class = kBoxColumns + (has_objectness ? 1 : 0);
  if (rows.columns <= first_class) return std::nullopt;
  float greatest = 0;
  for (size_t row = 0; row < rows.rows; ++row) {
    for (size_t column = 0; column < kBoxColumns; ++column)
      greatest = std::max(greatest, rows.at(row, column));
    const bool is_box = rows.at(row, 2) >= 0 && rows.at(row, 3) >= 0;
    for (size_t column = kBoxColumns; column < rows.columns; ++column)
      if (!is_box || !is_score(rows.at(row, column))) return std::nullopt;
  }
  const PixelScale scale = pixel_scale(greatest, input);
  Detections found;
  for (size_t row = 0; row < rows.rows; ++row) {
    const size_t best = best_column(rows, row, first_class);
    const float score = rows.at(row, best) * (has_objectness ? rows.at(row, kBoxColumns) : 1.0F);
    if (!(score >= least_score)) continue;
    found.push_back({vision::centred_box(rows.at(row, 0) * scale.x, rows.at(row, 1) * scale.y,
                                         rows.at(row, 2) * scale.x, rows.at(row, 3) * scale.y),
                     score, static_cast<uint32_t>(best - first_class)});
  }
  return found;
}

// The columns of rows that NMS has left. `object_class` is -1 if there is none.
struct RowOrder {
  size_t columns, corners, score;
  int object_class;
};

// [N,6] of YOLOv10 and later; [N,7] of SSD, whose first column is the frame; [N,7] of YOLOv7, which
// begins with the frame, too; [N,5] of detectors whose classes are an output of their own.
constexpr std::array kRowOrders = {RowOrder{6, 0, 4, 5}, RowOrder{7, 3, 2, 1}, RowOrder{7, 1, 6, 5},
                                   RowOrder{5, 0, 4, -1}};

// Whether the rows that count can be in this order.
bool fits(const Matrix& rows, const RowOrder& order, float least_score) {
  if (rows.columns != order.columns) return false;
  for (size_t row = 0; row < rows.rows; ++row) {
    if (rows.at(row, order.score) < least_score) continue;
    const auto corner = [&](size_t index) { return rows.at(row, order.corners + index); };
    const bool in_order = corner(0) <= corner(2) && corner(1) <= corner(3);
    const bool is_known =
        order.object_class < 0 || is_class(rows.at(row, static_cast<size_t>(order.object_class)));
    if (!is_score(rows.at(row, order.score)) || !in_order || !is_known) return false;
  }
  return true;
}

Detections read_rows(const Matrix& rows, const RowOrder& order, const DetectorOutput* classes,
                     const InputSize& input, float least_score) {
  float greatest = 0;
  for (size_t row = 0; row < rows.rows; ++row)
    greatest =
        std::max(greatest,
                 greatest_of(rows.values.subspan(row * rows.columns + order.corners, kBoxColumns)));
  const PixelScale scale = pixel_scale(greatest, input);
  Detections found;
  for (size_t row = 0; row < rows.rows; ++row) {
    const float score = rows.at(row, order.score);
    if (!(score >= least_score)) continue;
    float object_class = classes == nullptr ? 0 : classes->values[row];
    if (order.object_class >= 0)
      object_class = rows.at(row, static_cast<size_t>(order.object_class));
    const auto corner = [&](size_t index) { return rows.at(row, order.corners + index); };
    found.push_back({box_of_corners(corner(0), corner(1), corner(2), corner(3), scale), score,
                     is_class(object_class) ? static_cast<uint32_t>(object_class) : 0});
  }
  return found;
}

// The outputs of NMS in the graph by their meaning; null if there is none.
struct KeptLists {
  const DetectorOutput* boxes = nullptr;
  const DetectorOutput* scores = nullptr;
  const DetectorOutput* classes = nullptr;
};

KeptLists kept_lists(DetectorOutputs outputs) {
  KeptLists lists;
  for (const DetectorOutput& output : outputs) {
    const auto matrix = matrix_of(output);
    if (matrix && matrix->columns == kBoxColumns && lists.boxes == nullptr) lists.boxes = &output;
  }
  if (lists.boxes == nullptr) return {};
  const size_t boxes = lists.boxes->values.size() / kBoxColumns;
  for (const DetectorOutput& output : outputs) {
    if (&output == lists.boxes || !is_list(output, boxes)) continue;
    const bool has_classes =
        is_integer_type(output) || mentions(output, "class") || mentions(output, "label");
    // The number of detections is a list of one element, too.
    if (mentions(output, "num")) continue;
    (has_classes ? lists.classes : lists.scores) = &output;
  }
  return lists;
}

}  // namespace

std::optional<Matrix> matrix_of(const DetectorOutput& output) {
  const std::vector<uint32_t>& shape = output.desc.shape;
  if (shape.size() < 2) return std::nullopt;
  if (std::any_of(shape.begin(), shape.end() - 2, [](uint32_t side) { return side != 1; }))
    return std::nullopt;
  return Matrix{shape[shape.size() - 2], shape.back(), output.values};
}

bool is_score(float value) {
  constexpr float kRounding = 1e-3F;
  return value >= -kRounding && value <= 1 + kRounding;
}

PixelScale pixel_scale(float greatest, const InputSize& input) {
  constexpr float kMostRelative = 2;
  if (greatest > kMostRelative) return {};
  return {static_cast<float>(input.width), static_cast<float>(input.height)};
}

vision::Box box_of_corners(float left, float top, float right, float bottom,
                           const PixelScale& scale) {
  return {left * scale.x, top * scale.y, (right - left) * scale.x, (bottom - top) * scale.y};
}

std::optional<Detections> decode_scores_and_corners(DetectorOutputs outputs, const InputSize& input,
                                                    float least_score) {
  if (outputs.size() != 2) return std::nullopt;
  const auto first = matrix_of(outputs[0]), second = matrix_of(outputs[1]);
  if (!first || !second || first->rows != second->rows) return std::nullopt;
  const bool boxes_first = first->columns == kBoxColumns && !mentions(outputs[0], "score");
  const Matrix& boxes = boxes_first ? *first : *second;
  const Matrix& scores = boxes_first ? *second : *first;
  if (boxes.columns != kBoxColumns || scores.columns == 0 || !are_corners(boxes) ||
      !std::ranges::all_of(scores.values, is_score))
    return std::nullopt;
  const PixelScale scale = pixel_scale(greatest_of(boxes.values), input);
  const size_t first_class = has_background(scores) ? 1 : 0;
  Detections found;
  for (size_t row = 0; row < boxes.rows; ++row) {
    const size_t best = best_column(scores, row, first_class);
    if (!(scores.at(row, best) >= least_score)) continue;
    found.push_back({box_of_corners(boxes.at(row, 0), boxes.at(row, 1), boxes.at(row, 2),
                                    boxes.at(row, 3), scale),
                     scores.at(row, best), static_cast<uint32_t>(best)});
  }
  return found;
}

std::optional<Detections> decode_columns(DetectorOutputs outputs, const InputSize& input,
                                         float least_score) {
  if (outputs.size() != 1) return std::nullopt;
  const auto matrix = matrix_of(outputs[0]);
  if (!matrix || matrix->rows >= matrix->columns) return std::nullopt;
  std::vector<float> values;
  return decode_candidates(transposed(*matrix, values), false, input, least_score);
}

std::optional<Detections> decode_rows(DetectorOutputs outputs, const InputSize& input,
                                      float least_score) {
  if (outputs.size() != 1) return std::nullopt;
  const auto matrix = matrix_of(outputs[0]);
  if (!matrix || matrix->rows <= matrix->columns) return std::nullopt;
  return decode_candidates(*matrix, true, input, least_score);
}

std::optional<Detections> decode_kept_rows(DetectorOutputs outputs, const InputSize& input,
                                           float least_score) {
  const auto rows = matrix_of(outputs[0]);
  if (!rows) return std::nullopt;
  const DetectorOutput* const classes = outputs.size() == 2 ? &outputs[1] : nullptr;
  for (const RowOrder& order : kRowOrders) {
    const bool separate = order.object_class < 0;
    const size_t needed = separate ? 2 : 1;
    if (outputs.size() != needed || !fits(*rows, order, least_score)) continue;
    if (separate && !is_list(*classes, rows->rows)) continue;
    return read_rows(*rows, order, classes, input, least_score);
  }
  return std::nullopt;
}

std::optional<Detections> decode_kept_lists(DetectorOutputs outputs, const InputSize& input,
                                            float least_score) {
  const auto [boxes, scores, classes] = kept_lists(outputs);
  if (boxes == nullptr || scores == nullptr || classes == nullptr) return std::nullopt;
  const Matrix corners = *matrix_of(*boxes);
  if (!std::ranges::all_of(scores->values, is_score)) return std::nullopt;
  // TensorFlow has the vertical coordinate first.
  const size_t x = mentions(*boxes, "detection_boxes") ? 1 : 0, y = 1 - x;
  const PixelScale scale = pixel_scale(greatest_of(corners.values), input);
  Detections found;
  for (size_t row = 0; row < corners.rows; ++row) {
    if (!(scores->values[row] >= least_score) || !is_class(classes->values[row])) continue;
    found.push_back({box_of_corners(corners.at(row, x), corners.at(row, y), corners.at(row, 2 + x),
                                    corners.at(row, 2 + y), scale),
                     scores->values[row], static_cast<uint32_t>(classes->values[row])});
  }
  return found;
}

// Palm detectors name the columns score, centre and size of a square that is relative to the width
// of the input, and key points, which are not drawn. Frames are told apart by another output.
std::optional<Detections> decode_named_rows(DetectorOutputs outputs, const InputSize& input,
                                            float least_score) {
  const auto named = std::ranges::find_if(outputs, [](const DetectorOutput& output) {
    return output.desc.name.starts_with("score_cx_cy_w_");
  });
  if (named == outputs.end()) return std::nullopt;
  const auto rows = matrix_of(*named);
  if (!rows || rows->columns < kBoxColumns) return std::nullopt;
  Detections found;
  const auto side = static_cast<float>(input.width);
  for (size_t row = 0; row < rows->rows; ++row)
    if (rows->at(row, 0) >= least_score)
      found.push_back({vision::centred_box(rows->at(row, 1) * side, rows->at(row, 2) * side,
                                           rows->at(row, 3) * side, rows->at(row, 3) * side),
                       rows->at(row, 0), 0});
  return found;
}

}  // namespace millrace::cli
