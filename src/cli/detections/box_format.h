// BoxFormat: one way in which detectors return boxes. Each format says whether outputs have it,
// and decodes them. Plain functions; thread-safe.
//
// A format takes outputs only if their values can be what it decodes: scores from 0 to 1, whole
// numbers for classes, and corners in order. So an output of the same shape with another meaning,
// such as logits, offsets from prior boxes or the probabilities of a classifier, is refused instead
// of drawn.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "cli/detections/detections.h"
#include "cli/detections/key_points.h"

namespace millrace::cli {

using Detections = std::vector<vision::Detection>;
using DetectorOutputs = std::span<const DetectorOutput>;

// Returns the boxes with a score of at least `least_score`, in pixels of the input, in any order;
// nothing if the outputs do not have the format.
using DecodeBoxes = std::optional<Detections> (*)(DetectorOutputs outputs, const InputSize& input,
                                                  float least_score);

// The three scales of YuNet, by the names cls_8, obj_8, bbox_8 and so on.
std::optional<Detections> decode_yunet(DetectorOutputs outputs, const InputSize& input,
                                       float least_score);
// FastestDet: one map [1,5+C,H,W] with the planes objectness, box and classes.
std::optional<Detections> decode_fastestdet(DetectorOutputs outputs, const InputSize& input,
                                            float least_score);
// Class scores [1,N,C], and decoded corners [1,N,4], as UltraFace has them.
std::optional<Detections> decode_scores_and_corners(DetectorOutputs outputs, const InputSize& input,
                                                    float least_score);
// YOLOv8 and later without NMS: [1,4+C,N] with centre, size and class scores.
std::optional<Detections> decode_columns(DetectorOutputs outputs, const InputSize& input,
                                         float least_score);
// YOLOv8's segmentation models: [1,4+C+M,N], with the weights of M masks, and [1,M,H,W] (masks.h).
std::optional<Detections> decode_masked_columns(DetectorOutputs outputs, const InputSize& input,
                                                float least_score);
// YOLOv5 and v7: [1,N,5+C] with centre, size, objectness and class scores.
std::optional<Detections> decode_rows(DetectorOutputs outputs, const InputSize& input,
                                      float least_score);
// NMS in the graph: one list with a detection in each row, [N,6] or [N,7] in several orders, or
// [N,5] with a list of classes [N] that its type or its name shows.
std::optional<Detections> decode_kept_rows(DetectorOutputs outputs, const InputSize& input,
                                           float least_score);
// NMS in the graph, as in SSD: boxes [N,4], scores [N] and classes [N].
std::optional<Detections> decode_kept_lists(DetectorOutputs outputs, const InputSize& input,
                                            float least_score);
// NMS in the graph: rows whose columns the name of the output lists, as palm detectors have them.
std::optional<Detections> decode_named_rows(DetectorOutputs outputs, const InputSize& input,
                                            float least_score);

// YOLOv8's pose models: [1,5+3K,N] with centre, size, score, and K points with their visibility.
std::optional<Detections> decode_poses(DetectorOutputs outputs, const InputSize& input,
                                       float least_score);

// Key points, of the formats that have some. `take` is called for each candidate, whatever its
// score; not at all if the outputs have another format.
using TakePoints = std::function<void(const vision::Box& box, KeyPoints points)>;
void for_each_yunet_face(DetectorOutputs outputs, const InputSize& input, const TakePoints& take);
void for_each_pose(DetectorOutputs outputs, const TakePoints& take);

// Helpers that formats share.

// Rows and columns of an output whose dimensions before the last two are 1.
struct Matrix {
  size_t rows = 0;
  size_t columns = 0;
  std::span<const float> values;

  float at(size_t row, size_t column) const { return values[row * columns + column]; }
};
std::optional<Matrix> matrix_of(const DetectorOutput& output);

// Whether the value is within 0 to 1, give or take rounding.
bool is_score(float value);

}  // namespace millrace::cli
