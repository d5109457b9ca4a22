// Formats that list a box in each row or column, of all candidates or of those that NMS has left.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <utility>

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

// Whether the type or the name of the output says that it has a class for each box.
bool names_classes(const DetectorOutput& output) {
  return output.desc.type == tensor::DataType::kInt64 ||
         output.desc.type == tensor::DataType::kInt32 || mentions(output, "class") ||
         mentions(output, "label");
}

bool is_class(float value) {
  return value >= 0 && value < 1e6F && value == std::floor(value);
}

// Whether the value is a class, or the -1 of a row that stands for no detection.
bool is_class_or_none(float value) {
  return is_class(value) || value == -1;
}

// The class with the greatest score among the columns of a row from `first` on.
size_t best_column(const Matrix& rows, size_t row, size_t first) {
  size_t best = first;
  for (size_t column = first + 1; column < rows.columns; ++column)
    if (rows.at(row, column) > rows.at(row, best)) best = column;
  return best;
}

// Whether the scores of most rows are probabilities of classes, of which one is true. The first is
// then the background. In outputs of 8 bits the rounding of many classes adds up in some rows.
bool has_background(const Matrix& scores) {
  constexpr float kTolerance = 0.02F;
  if (scores.columns < 2) return false;
  size_t probable = 0;
  for (size_t row = 0; row < scores.rows; ++row) {
    float sum = 0;
    for (size_t column = 0; column < scores.columns; ++column) sum += scores.at(row, column);
    if (std::abs(sum - 1) <= kTolerance) ++probable;
  }
  return 2 * probable > scores.rows;
}

// The left, upper, right and lower side of a box.
using Corners = std::span<const float>;

bool in_order(Corners box) {
  return box[0] <= box[2] && box[1] <= box[3];
}

bool has_area(Corners box) {
  return box[0] < box[2] && box[1] < box[3];
}

bool are_corners(const Matrix& boxes) {
  for (size_t row = 0; row < boxes.rows; ++row)
    if (!in_order(boxes.values.subspan(row * kBoxColumns, kBoxColumns))) return false;
  return true;
}

vision::Box box_of_corners(float left, float top, float right, float bottom) {
  return {left, top, right - left, bottom - top};
}

// Returns the detections with boxes in pixels. Coordinates are relative to the size of the input if
// no box reaches beyond 2: boxes may exceed the picture, but not so far. Only boxes that count are
// looked at, since candidates without a score may lie anywhere.
Detections in_pixels(Detections found, const InputSize& input) {
  constexpr float kMostRelative = 2;
  float greatest = 0;
  for (const vision::Detection& one : found)
    greatest = std::max({greatest, one.box.x + one.box.width, one.box.y + one.box.height});
  if (greatest > kMostRelative) return found;
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  for (vision::Detection& one : found)
    one.box = {one.box.x * width, one.box.y * height, one.box.width * width,
               one.box.height * height};
  return found;
}

Matrix transposed(const Matrix& from, std::vector<float>& values) {
  values.resize(from.values.size());
  for (size_t row = 0; row < from.rows; ++row)
    for (size_t column = 0; column < from.columns; ++column)
      values[column * from.rows + row] = from.at(row, column);
  return {from.columns, from.rows, values};
}

// Decodes rows with the centre and size of a box, perhaps an objectness, and class scores.
std::optional<Detections> decode_candidates(const Matrix& rows, bool has_objectness,
                                            const InputSize& input, float least_score) {
  const size_t first_class = kBoxColumns + (has_objectness ? 1 : 0);
  if (rows.columns <= first_class) return std::nullopt;
  Detections found;
  for (size_t row = 0; row < rows.rows; ++row) {
    if (!(rows.at(row, 2) >= 0 && rows.at(row, 3) >= 0)) return std::nullopt;
    for (size_t column = kBoxColumns; column < rows.columns; ++column)
      if (!is_score(rows.at(row, column))) return std::nullopt;
    const size_t best = best_column(rows, row, first_class);
    const float score = rows.at(row, best) * (has_objectness ? rows.at(row, kBoxColumns) : 1.0F);
    if (score >= least_score)
      found.push_back(
          {vision::centred_box(rows.at(row, 0), rows.at(row, 1), rows.at(row, 2), rows.at(row, 3)),
           score, static_cast<uint32_t>(best - first_class)});
  }
  return in_pixels(std::move(found), input);
}

// The columns of rows that NMS has left. `object_class` is -1 if there is none. With `has_frame`
// the first column is the index of the frame.
struct RowOrder {
  size_t columns, corners, score;
  int object_class;
  bool has_frame;
};

// [N,6] of YOLOv10 and later; [N,7] of SSD; [N,7] of YOLOv7; [N,5] of detectors whose classes are
// an output of their own.
constexpr std::array kRowOrders = {RowOrder{6, 0, 4, 5, false}, RowOrder{7, 3, 2, 1, true},
                                   RowOrder{7, 1, 6, 5, true}, RowOrder{5, 0, 4, -1, false}};

Corners corners_of(const Matrix& rows, size_t row, const RowOrder& order) {
  return rows.values.subspan(row * rows.columns + order.corners, kBoxColumns);
}

// Whether the row only fills up a list of fixed length.
bool is_padding(const Matrix& rows, size_t row) {
  return std::ranges::all_of(rows.values.subspan(row * rows.columns, rows.columns),
                             [](float value) { return value == 0 || value == -1; });
}

// Whether score, class and frame of the row can be these.
bool is_plausible(const Matrix& rows, size_t row, const RowOrder& order) {
  const auto is_index = [&](size_t column) { return is_class_or_none(rows.at(row, column)); };
  return is_score(rows.at(row, order.score)) && (!order.has_frame || is_index(0)) &&
         (order.object_class < 0 || is_index(static_cast<size_t>(order.object_class)));
}

// Returns the number of rows with at least the score; nothing if the rows cannot be in this order.
// Every row has to be plausible, and one of those that are no padding has to be a box with an area:
// the probabilities of six or seven classes have the shape of a row, too.
std::optional<size_t> count_rows(const Matrix& rows, const RowOrder& order, float least_score) {
  if (rows.columns != order.columns) return std::nullopt;
  size_t counting = 0;
  bool any_box = false, all_padding = true;
  for (size_t row = 0; row < rows.rows; ++row) {
    if (is_padding(rows, row)) continue;
    all_padding = false;
    const Corners box = corners_of(rows, row, order);
    const bool counts = rows.at(row, order.score) >= least_score;
    if (!is_plausible(rows, row, order) || (counts && !in_order(box))) return std::nullopt;
    if (counts) ++counting;
    any_box = any_box || has_area(box);
  }
  return any_box || all_padding ? std::optional(counting) : std::nullopt;
}

Detections read_rows(const Matrix& rows, const RowOrder& order, const DetectorOutput* classes,
                     const InputSize& input, float least_score) {
  Detections found;
  for (size_t row = 0; row < rows.rows; ++row) {
    const float score = rows.at(row, order.score);
    if (is_padding(rows, row) || !(score >= least_score)) continue;
    const float object_class = classes == nullptr
                                   ? rows.at(row, static_cast<size_t>(order.object_class))
                                   : classes->values[row];
    const Corners box = corners_of(rows, row, order);
    if (is_class(object_class))
      found.push_back({box_of_corners(box[0], box[1], box[2], box[3]), score,
                       static_cast<uint32_t>(object_class)});
  }
  return in_pixels(std::move(found), input);
}

// The outputs of NMS in the graph by their meaning. Incomplete if one is null.
struct KeptLists {
  const DetectorOutput* boxes = nullptr;
  const DetectorOutput* scores = nullptr;
  const DetectorOutput* classes = nullptr;
};

// Returns the only list whose name has one of the words or, if there is none, the only other list;
// null if it is not clear which one is meant.
const DetectorOutput* only_list(const std::vector<const DetectorOutput*>& lists,
                                std::initializer_list<std::string_view> words) {
  std::vector<const DetectorOutput*> named;
  for (const DetectorOutput* list : lists)
    if (std::ranges::any_of(words, [&](std::string_view word) { return mentions(*list, word); }))
      named.push_back(list);
  const auto& possible = named.empty() ? lists : named;
  return possible.size() == 1 ? possible.front() : nullptr;
}

// Returns the lists that have as many entries as `boxes` has rows.
KeptLists lists_beside(const DetectorOutput& boxes, size_t rows, DetectorOutputs outputs) {
  std::vector<const DetectorOutput*> scores, classes;
  for (const DetectorOutput& output : outputs) {
    // The number of detections is a list of one element, too.
    if (&output == &boxes || !is_list(output, rows) || mentions(output, "num")) continue;
    (names_classes(output) ? classes : scores).push_back(&output);
  }
  return {&boxes, only_list(scores, {"score"}), only_list(classes, {"class", "label"})};
}

KeptLists kept_lists(DetectorOutputs outputs) {
  for (const DetectorOutput& output : outputs) {
    const auto matrix = matrix_of(output);
    if (!matrix || matrix->columns != kBoxColumns) continue;
    const KeptLists lists = lists_beside(output, matrix->rows, outputs);
    if (lists.scores != nullptr && lists.classes != nullptr) return lists;
  }
  return {};
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
  const size_t first_class = has_background(scores) ? 1 : 0;
  Detections found;
  for (size_t row = 0; row < boxes.rows; ++row) {
    const size_t best = best_column(scores, row, first_class);
    if (!(scores.at(row, best) >= least_score)) continue;
    found.push_back(
        {box_of_corners(boxes.at(row, 0), boxes.at(row, 1), boxes.at(row, 2), boxes.at(row, 3)),
         scores.at(row, best), static_cast<uint32_t>(best)});
  }
  return in_pixels(std::move(found), input);
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

// An order in which a row counts is preferred: there may be another in which all scores are low.
std::optional<Detections> decode_kept_rows(DetectorOutputs outputs, const InputSize& input,
                                           float least_score) {
  if (outputs.empty()) return std::nullopt;
  const auto rows = matrix_of(outputs[0]);
  if (!rows) return std::nullopt;
  const DetectorOutput* const classes = outputs.size() == 2 ? &outputs[1] : nullptr;
  bool fits = false;
  for (const RowOrder& order : kRowOrders) {
    const bool separate = order.object_class < 0;
    if (outputs.size() != (separate ? 2 : 1)) continue;
    if (separate && !(names_classes(*classes) && is_list(*classes, rows->rows) &&
                      std::ranges::all_of(classes->values, is_class_or_none)))
      continue;
    const auto counting = count_rows(*rows, order, least_score);
    if (counting && *counting > 0) return read_rows(*rows, order, classes, input, least_score);
    fits = fits || counting.has_value();
  }
  return fits ? std::optional(Detections()) : std::nullopt;
}

std::optional<Detections> decode_kept_lists(DetectorOutputs outputs, const InputSize& input,
                                            float least_score) {
  const auto [boxes, scores, classes] = kept_lists(outputs);
  if (boxes == nullptr) return std::nullopt;
  const Matrix corners = *matrix_of(*boxes);
  if (!std::ranges::all_of(scores->values, is_score) ||
      !std::ranges::all_of(classes->values, is_class_or_none))
    return std::nullopt;
  // TensorFlow has the vertical coordinate first.
  const size_t x = mentions(*boxes, "detection_boxes") ? 1 : 0, y = 1 - x;
  Detections found;
  for (size_t row = 0; row < corners.rows; ++row) {
    if (!(scores->values[row] >= least_score) || !is_class(classes->values[row])) continue;
    const Corners box = corners.values.subspan(row * kBoxColumns, kBoxColumns);
    if (!in_order(box)) return std::nullopt;
    found.push_back({box_of_corners(box[x], box[y], box[2 + x], box[2 + y]), scores->values[row],
                     static_cast<uint32_t>(classes->values[row])});
  }
  return in_pixels(std::move(found), input);
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
  for (size_t row = 0; row < rows->rows; ++row) {
    const float score = rows->at(row, 0);
    if (!is_score(score)) return std::nullopt;
    if (score >= least_score)
      found.push_back({vision::centred_box(rows->at(row, 1) * side, rows->at(row, 2) * side,
                                           rows->at(row, 3) * side, rows->at(row, 3) * side),
                       score, 0});
  }
  return found;
}

}  // namespace millrace::cli
