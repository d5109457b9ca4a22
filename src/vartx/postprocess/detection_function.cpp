// Postprocessing of object detectors. A decoder (YOLO or SSD, vision/postprocess) turns the output
// tensors of a frame into candidate boxes; then non-maximum suppression, in the variant of the
// type, selects the results. Gives one result per box, or for OBJECT_COUNT the number of boxes of
// each class.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "base/value_or_throw.h"
#include "vartx/postprocess/postprocess_function.h"
#include "vartx/results/frame_geometry.h"
#include "vartx/results/infer_result_impl.h"
#include "vision/postprocess/ssd.h"
#include "vision/postprocess/suppression.h"
#include "vision/postprocess/yolo.h"

namespace millrace::vartx {
namespace {

using ::vart::PostProcessType;
using vision::Detection;

constexpr float kSoftSigma = 0.5F;

// Decodes the output tensors of one frame into candidates; the decoder is bound to it.
using Decode =
    std::function<std::vector<Detection>(std::span<const std::span<const float>> outputs)>;

std::string output_layout(const PostProcessConfig& config, const ::vart::TensorInfo& output,
                          size_t index) {
  const std::vector<std::string>& given = config.model.output_layouts;
  if (!given.empty()) return given[std::min(index, given.size() - 1)];
  if (!output.memory_layout.empty()) return output.memory_layout;
  throw std::invalid_argument("\"output-layout\" is required for boxes");
}

std::vector<vision::CellLayout> output_cells(const PostProcessConfig& config,
                                             const ModelTensors& tensors) {
  std::vector<vision::CellLayout> cells;
  for (size_t i = 0; i < tensors.outputs.size(); ++i) {
    const ::vart::TensorInfo& output = tensors.outputs[i];
    cells.push_back(value_or_throw(
        vision::cell_layout(output.shape, output_layout(config, output, i)), title_of(output)));
  }
  return cells;
}

// Returns the number of anchors of each grid: as configured, or else the same for each.
std::vector<uint32_t> anchor_counts(const ModelParams& model) {
  const size_t grids = model.grid_shapes.size();
  std::vector<uint32_t> counts = model.boxes_per_cell;
  if (counts.empty() && model.anchors.size() % grids == 0)
    counts.assign(grids, static_cast<uint32_t>(model.anchors.size() / grids));
  uint64_t sum = 0;
  for (const uint32_t count : counts) sum += count;
  const bool each_has_one = std::ranges::none_of(counts, [](uint32_t count) { return count == 0; });
  if (counts.size() != grids || sum != model.anchors.size() || !each_has_one)
    throw std::invalid_argument(
        fmt::format("{} anchors and {} numbers of \"num-anchorboxes\" do not fit {} grids",
                    model.anchors.size(), model.boxes_per_cell.size(), grids));
  return counts;
}

// Checks a configuration without anchors. Each cell then has one box, for which "num-anchorboxes"
// may be 0 or 1 or missing.
void check_no_anchors(const ModelParams& model) {
  if (std::ranges::any_of(model.boxes_per_cell, [](uint32_t count) { return count > 1; }))
    throw std::invalid_argument("\"num-anchorboxes\" greater than 1 requires \"anchors\"");
}

void scale_to_pixels(vision::GridSet& set) {
  for (vision::Grid& grid : set.grids) {
    const vision::Stride stride = vision::stride_of(set, grid);
    for (vision::Anchor& anchor : grid.anchors) {
      anchor.width *= stride.x;
      anchor.height *= stride.y;
    }
  }
}

vision::GridSet grid_set(const ModelParams& model, const ModelTensors& tensors,
                         bool anchors_in_cells) {
  if (model.grid_shapes.empty())
    throw std::invalid_argument("\"grid-shape\" is required for boxes");
  const InputSize input = input_size(tensors, model.input_layout);
  vision::GridSet set{input.width, input.height, {}};
  for (const ModelParams::GridShape& shape : model.grid_shapes)
    set.grids.push_back({shape.rows, shape.columns, {}});
  if (model.anchors.empty()) {
    check_no_anchors(model);
    return set;
  }
  const std::vector<uint32_t> counts = anchor_counts(model);
  auto next = model.anchors.begin();
  for (size_t i = 0; i < set.grids.size(); ++i) {
    set.grids[i].anchors.assign(next, next + counts[i]);
    next += counts[i];
  }
  if (anchors_in_cells) scale_to_pixels(set);
  return set;
}

void require_anchors(const ModelParams& model) {
  if (model.anchors.empty())
    throw std::invalid_argument("\"anchors\" are required for this type of postprocessing");
}

Decode make_yolo(vision::YoloOptions options, const PostProcessConfig& config,
                 const ModelTensors& tensors) {
  options.least_score = config.confidence;
  auto decoder = value_or_throw(
      vision::YoloDecoder::plan(std::move(options), output_cells(config, tensors)), "set_config");
  return [decoder = std::move(decoder)](auto outputs) { return decoder.decode(outputs); };
}

Decode make_yolov2(const PostProcessConfig& config, const ModelTensors& tensors) {
  require_anchors(config.model);
  return make_yolo({.grid_set = grid_set(config.model, tensors, true),
                    .has_objectness = true,
                    .sigmoid_objectness = true,
                    .class_scores = vision::ClassScores::kSoftmax},
                   config, tensors);
}

Decode make_ssd(const PostProcessConfig& config, const ModelTensors& tensors) {
  require_anchors(config.model);
  auto decoder = value_or_throw(
      vision::SsdDecoder::plan(grid_set(config.model, tensors, config.model.anchors_in_cells),
                               config.confidence, output_cells(config, tensors)),
      "set_config");
  return [decoder = std::move(decoder)](auto outputs) { return decoder.decode(outputs); };
}

Decode make_decode(PostProcessType type, const PostProcessConfig& config,
                   const ModelTensors& tensors) {
  if (type == PostProcessType::YOLOV2) return make_yolov2(config, tensors);
  if (type == PostProcessType::SSDRESNET34) return make_ssd(config, tensors);
  if (type == PostProcessType::ANCHOR_ADJUSTMENT) require_anchors(config.model);
  const ModelParams& model = config.model;
  return make_yolo({.grid_set = grid_set(model, tensors, model.anchors_in_cells),
                    .has_objectness = model.has_objectness,
                    .sigmoid_objectness = model.apply_sigmoid,
                    .class_scores = model.apply_sigmoid ? vision::ClassScores::kSigmoid
                                                        : vision::ClassScores::kAsGiven},
                   config, tensors);
}

std::vector<Detection> select(PostProcessType type, const PostProcessConfig& config,
                              std::vector<Detection> candidates) {
  switch (type) {
    case PostProcessType::YOLOV2:
    case PostProcessType::SSDRESNET34:
    case PostProcessType::CLASSWISE_NMS:
      return vision::suppress_by_class(std::move(candidates), config.nms_threshold);
    case PostProcessType::DISTANCE_IOU_NMS:
      return vision::suppress_by_distance(std::move(candidates), config.nms_threshold);
    case PostProcessType::SOFT_NMS:
      return vision::soften(std::move(candidates), kSoftSigma, config.confidence);
    case PostProcessType::ANCHOR_ADJUSTMENT:
      return vision::best_candidates(std::move(candidates));
    default:  // NMS and OBJECT_COUNT
      return vision::suppress(std::move(candidates), config.nms_threshold);
  }
}

std::shared_ptr<::vart::InferResult> result_of(const Detection& found, const Labels& labels) {
  ::vart::DetectionResData data;
  data.x = rounded_coordinate(found.box.x);
  data.y = rounded_coordinate(found.box.y);
  data.width = rounded_size(double{found.box.x} + found.box.width - data.x);
  data.height = rounded_size(double{found.box.y} + found.box.height - data.y);
  data.label = labels.of(found.class_id);
  data.confidence = found.score;
  data.class_id = static_cast<int>(found.class_id);
  return make_result(::vart::InferResultType::DETECTION, std::move(data));
}

// Returns the classes of a frame, the most frequent first, with the number of boxes of each as its
// confidence.
std::shared_ptr<::vart::InferResult> counts_of(std::span<const Detection> found,
                                               const Labels& labels) {
  std::vector<vision::ClassCount> counts = vision::count_by_class(found);
  std::ranges::stable_sort(counts, std::greater(), &vision::ClassCount::count);
  ::vart::ClassificationResData data;
  for (const vision::ClassCount& one : counts) {
    data.label.push_back(labels.of(one.class_id));
    data.confidence.push_back(one.count);
    data.index.push_back(one.class_id);
  }
  return make_result(::vart::InferResultType::CLASSIFICATION, std::move(data));
}

class DetectionFunction : public PostProcessFunction {
 public:
  DetectionFunction(PostProcessType type, const PostProcessConfig& config, Decode decode)
      : type_(type), config_(config), decode_(std::move(decode)) {}

  FrameResults process(std::span<const std::span<float>> outputs) const override {
    const std::vector<std::span<const float>> values(outputs.begin(), outputs.end());
    const std::vector<Detection> found = select(type_, config_, decode_(values));
    if (type_ == PostProcessType::OBJECT_COUNT) return {counts_of(found, config_.labels)};
    FrameResults results;
    for (const Detection& one : found) results.push_back(result_of(one, config_.labels));
    return results;
  }

 private:
  const PostProcessType type_;
  const PostProcessConfig& config_;
  const Decode decode_;
};

}  // namespace

std::unique_ptr<PostProcessFunction> make_detection(PostProcessType type,
                                                    const PostProcessConfig& config,
                                                    const ModelTensors& tensors) {
  return std::make_unique<DetectionFunction>(type, config, make_decode(type, config, tensors));
}

}  // namespace millrace::vartx
